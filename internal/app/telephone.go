package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/call/handset"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/send/sandbox"
	"carillon/internal/store"
	"carillon/internal/store/suppressions"
)

// openTelephone opens what calls are placed and taken with: the SIP user agent of this node, and the sandbox's phone.
func openTelephone(ctx context.Context, a *App) (*telephone.Telephone, error) {
	files, err := sipFiles(a.cfg.SIPCertificate, a.cfg.SIPKey)
	if err != nil {
		return nil, err
	}
	if a.phone, err = handset.Open(ctx, sandbox.Delays{}, sip.Options{TLSFiles: files, Log: a.log}); err != nil {
		return nil, err
	}
	var opened atomic.Pointer[telephone.Telephone]
	if a.sip, err = sip.New(ctx, sip.Options{
		OnCall: func(in *sip.Incoming) {
			if t := opened.Load(); t != nil {
				t.Take(in)
			} else {
				in.Refuse(503, "Service Unavailable")
			}
		},
		Address: a.cfg.SIPAddr, TLS: a.cfg.SIPTLSAddr, TLSFiles: files, External: a.cfg.SIPExternal, Ports: a.cfg.SIPPorts, AllowPrivate: a.cfg.SIPAllowPrivate, Log: a.log,
		Lines: lines(a.store), Shares: a.shares, Unheard: &a.unheard,
	}); err != nil {
		return nil, err
	}
	t := telephone.New(telephone.Options{
		Engine: a.sip, Trunks: trunks(a.phone), Voices: a.voices, Conversations: a.conversations, Agents: talking{a.store}, Files: a.files, Log: a.log,
		Suppress: askedInCall(a.store),
		Lines:    a.store.Senders.LinesByNumber, Owner: a.store.Senders.NumberOwner, Suspended: suspended(a.store), Incoming: a.incoming, Drain: a.cfg.CallDrain,
		Placed: a.calls.UnderWay, Most: a.cfg.MaxCalls, Denied: a.cfg.CallsDenied,
	})
	opened.Store(t)
	return t, nil
}

// askedInCall suppresses a number at the wish of somebody in a call: for everything where the number was called, for marketing where
// somebody called who says to have it.
func askedInCall(s *store.Store) func(ctx context.Context, companyID, number string, caller bool) error {
	return func(ctx context.Context, companyID, number string, caller bool) error {
		if caller {
			return s.Suppressions.Suppress(ctx, companyID, suppressions.Marketing, suppressions.AskedByCaller, time.Now(), number)
		}
		return s.Suppressions.Suppress(ctx, companyID, suppressions.All, "asked in a call", time.Now(), number)
	}
}

// lines lists the lines of all companies, read again when the configuration has changed.
func lines(s *store.Store) func(context.Context) ([]sip.Line, error) {
	var all []sip.Line
	var read bool
	var generation uint64
	return func(ctx context.Context) ([]sip.Line, error) {
		now := s.Config.Generation()
		if read && now == generation {
			return all, nil
		}
		senders, err := s.Senders.SIPLines(ctx)
		if err != nil {
			return nil, err
		}
		all = nil
		for _, x := range senders {
			if trunk, err := sip.TrunkOf(x.Settings); err == nil { // else no call is placed either
				all = append(all, sip.Line{Company: x.CompanyID, Trunk: trunk})
			}
		}
		read, generation = true, now
		return all, nil
	}
}

// closeTelephone ends the user agents, after the calls.
func closeTelephone(a *App) error {
	var errs []error
	if a.sip != nil {
		errs = append(errs, a.sip.Close())
	}
	if a.phone != nil {
		errs = append(errs, a.phone.Close())
	}
	return errors.Join(errs...)
}

// trunks is where lines' calls go: the sandbox's to its phone.
func trunks(phone *handset.Phone) telephone.Trunks {
	return func(line *carillon.Sender, c *dial.Call) (t sip.Trunk, header map[string]string, err error) {
		if line.Provider == "sandbox" {
			return sip.Trunk{Host: phone.Address(), Transport: "udp"}, map[string]string{
				handset.AttemptHeader: strconv.Itoa(c.Attempt), handset.CompanyHeader: line.CompanyID, handset.CallHeader: c.ID,
			}, nil
		}
		t, err = sip.TrunkOf(line.Settings)
		return t, nil, err
	}
}

// sipFiles are the certificate of this node for calls over TLS, and whom it trusts: the machine's authorities.
func sipFiles(certificate, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if certificate == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for SIP over TLS: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
