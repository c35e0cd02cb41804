package sip

import (
	"net/url"
	"strings"
)

// Callers returns the users of the addresses that name the caller, the most reliable first: those that the network asserts (RFC
// 3325), unless the caller wants to stay unknown, and the one of From.
func (in *Incoming) Callers() (users []string) {
	private := false
	for _, h := range in.request.GetHeaders("Privacy") {
		for kind := range strings.FieldsFuncSeq(strings.ToLower(h.Value()), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			private = private || kind == "id" || kind == "user" || kind == "header"
		}
	}
	if !private {
		for _, h := range in.request.GetHeaders("P-Asserted-Identity") {
			for value := range strings.SplitSeq(h.Value(), ",") {
				users = append(users, userOf(value))
			}
		}
	}
	if h := in.request.GetHeader("From"); h != nil {
		users = append(users, userOf(h.Value()))
	}
	return users
}

// userOf returns the user of an address in a header, such as "Ana" <sip:+34600111222@example.com>;tag=1 or <tel:+34600111222>,
// or "" if there is none.
func userOf(value string) string {
	if _, inner, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(inner, ">")
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(value), ":")
	if !ok {
		return ""
	}
	user, _, at := strings.Cut(rest, "@")
	if !at && !strings.EqualFold(scheme, "tel") {
		return ""
	}
	return user
}

// Number returns the number in the user part of an address, in the form of lines and contacts: without parameters and
// separators, and with resolved escapes (RFC 3966). It is "" if the user is not a number.
func Number(user string) string {
	user, _, _ = strings.Cut(user, ";")
	if plain, err := url.PathUnescape(user); err == nil {
		user = plain
	}
	user, _, _ = strings.Cut(user, ";") // an escaped parameter
	user = strings.Map(func(r rune) rune {
		if strings.ContainsRune("-.() ", r) {
			return -1
		}
		return r
	}, user)
	user = strings.TrimPrefix(user, "+")
	if user == "" || len(user) > maxNumber || strings.ContainsFunc(user, func(r rune) bool { return r < '0' || r > '9' }) {
		return ""
	}
	return user
}

const maxNumber = 20
