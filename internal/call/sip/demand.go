package sip

import (
	"cmp"
	"net"

	"github.com/emiago/sipgo/sip"
)

// Reasons to refuse a call to a line that does not meet its trunk's requirements.
var (
	errPlainCall   = &Refused{sip.StatusForbidden, "Calls To This Line Come Over TLS"}
	errPlainSound  = &Refused{sip.StatusNotAcceptableHere, "Calls To This Line Have Encrypted Sound"}
	errNoPassword  = &Refused{sip.StatusUnauthorized, "Unauthorized"}
	errWrongCaller = &Refused{sip.StatusForbidden, "Forbidden"}
)

// Demand checks that a call from a line's trunk meets the requirements that the trunk has for placed calls: TLS, encrypted
// sound, and with Trunk.Authenticate the password. The error is a *Refused for Refuse. Later requests of the call get
// the trunk's password if the trunk wants it.
func (in *Incoming) Demand(t Trunk) error {
	switch {
	case t.Transport == "tls" && in.request.Transport() != overTLS:
		return errPlainCall
	case t.Authenticate:
		if err := in.authenticate(t); err != nil {
			return err
		}
	}
	in.trunk, in.untimed = &t, t.WhatsApp != ""
	if in.encrypt = t.Encrypt; t.Encrypt && in.far != nil && !in.far.secure {
		return errPlainSound
	}
	return nil
}

const overTLS = "TLS"

// authenticate checks a call's password. If it is missing, Refuse responds with a challenge.
func (in *Incoming) authenticate(t Trunk) error {
	_, realm, err := t.target("")
	if err != nil || t.Username == "" || t.Password == "" {
		return errWrongCaller
	}
	source := in.Source
	if host, _, err := net.SplitHostPort(in.Source); err == nil {
		source = host
	}
	if t.WhatsApp != "" { // Realm is the peer's, for placed calls
		realm = t.Domain
	} else {
		realm = cmp.Or(t.Realm, realm)
	}
	p := proof{
		realm: realm, source: source, method: in.request.Method.String(), user: in.request.Recipient.User,
		username: t.Username,
		password: t.Password, md5: t.WhatsApp != "",
	}
	stale := false
	for _, h := range in.request.GetHeaders("Authorization") {
		switch in.e.challenges.check(p, h.Value()) {
		case proved:
			return nil
		case tooLate:
			stale = true
		default:
		}
	}
	in.challenge = in.e.challenges.ask(p, stale)
	return errNoPassword
}
