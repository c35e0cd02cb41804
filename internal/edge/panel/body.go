package panel

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/httpio"
	"carillon/internal/base/jsonbody"
)

// Bounds of what is typed in.
const (
	labelMost     = 100 // characters
	nameMost      = 100
	emailMost     = 254 // RFC 5321, section 4.5.3.1.3
	passwordLeast = 12
)

// object reads a body and rejects unknown fields, so that a misspelled one does not count as absent.
func object(r *http.Request, known ...string) (*jsonbody.Object, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	for _, key := range o.Keys() {
		if !slices.Contains(known, key) {
			return nil, carillon.Invalid("body", "Takes only the fields "+strings.Join(known, ", "))
		}
	}
	return o, nil
}

// text reads a required string of at most that many characters, on one line.
func text(o *jsonbody.Object, field string, most int) (string, error) {
	s, _, err := o.String(field, field)
	if err != nil {
		return "", err
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", carillon.Missing(field)
	case utf8.RuneCountInString(s) > most:
		return "", carillon.Invalid(field, "At most "+strconv.Itoa(most)+" characters")
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", carillon.Invalid(field, "Must be one line")
	}
	return s, nil
}

// email reads an e-mail address without a display name.
func email(o *jsonbody.Object) (string, error) {
	s, err := text(o, "email", emailMost)
	if err != nil {
		return "", err
	}
	if !config.ValidEmail(s) {
		return "", carillon.BadFormat("email", s, "E-mail address", "ana@example.org")
	}
	return config.FoldEmail(s), nil
}

// password reads a password of 12 characters or more, without rules on which ones (NIST SP 800-63B). No error contains the
// value. present is false where there is none.
func password(o *jsonbody.Object) (s string, present bool, err error) {
	const field = "password"
	s, present, err = o.String(field, field)
	switch {
	case err != nil:
		return "", false, carillon.BadFormat(field, "(not shown)", "string", "text")
	case !present:
		return "", false, nil
	case utf8.RuneCountInString(s) < passwordLeast || strings.TrimSpace(s) == "":
		return "", true, carillon.Invalid(field, "At least "+strconv.Itoa(passwordLeast)+" characters")
	case len(s) > auth.MaxPassword:
		return "", true, carillon.Invalid(field, "At most "+strconv.Itoa(auth.MaxPassword)+" bytes")
	}
	return s, true, nil
}

// scopes reads a list of scopes; an absent list means all.
func scopes(o *jsonbody.Object) ([]string, error) {
	const field = "scopes"
	all, present, err := o.Find(field).Strings(field)
	switch {
	case err != nil:
		return nil, err
	case !present:
		return []string{string(auth.All)}, nil
	case len(all) == 0:
		return nil, carillon.Invalid(field, "Must name at least one scope")
	}
	for i, s := range all {
		if !auth.ValidScope(s) {
			return nil, carillon.Invalid(field+"."+strconv.Itoa(i), "Must be one of "+known(auth.Scopes()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func known[S ~string](all []S) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// expiry reads an instant in the future; zero where there is none.
func expiry(o *jsonbody.Object, now time.Time) (time.Time, error) {
	const field = "expires_at"
	s, present, err := o.String(field, field)
	if err != nil || !present {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, carillon.Invalid(field, "Must be an RFC 3339 instant such as 2030-01-01T00:00:00Z")
	}
	if !t.After(now) {
		return time.Time{}, carillon.Invalid(field, "Must be in the future")
	}
	return t.UTC(), nil
}
