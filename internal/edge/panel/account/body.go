package account

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/panel/form"
)

// Bounds of what is typed in.
const (
	labelMost     = 100 // characters
	passwordLeast = 12
)

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
			return nil, carillon.Invalid(field+"."+strconv.Itoa(i), "Must be one of "+form.Known(auth.Scopes()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
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
