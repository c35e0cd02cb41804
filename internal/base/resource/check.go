package resource

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carillon"
)

const (
	maxName     = 200
	maxText     = 64 << 10
	maxAddress  = 2000
	maxLanguage = 35 // RFC 5646, section 4.4.1
)

// Check collects the faults of a resource. The zero value is ready to use.
type Check struct{ faults []error }

// Err joins the faults. It returns nil if there are none.
func (c *Check) Err() error { return errors.Join(c.faults...) }

// That adds a fault unless the rule holds. reason completes "this field …", as in "Must be a UUID".
func (c *Check) That(holds bool, field, reason string) {
	if !holds {
		c.faults = append(c.faults, carillon.Invalid(field, reason))
	}
}

// Required requires a text that is not blank and has at most 64 KiB.
func (c *Check) Required(field, value string) {
	if strings.TrimSpace(value) == "" {
		c.faults = append(c.faults, carillon.Missing(field))
		return
	}
	c.Text(field, value)
}

// Text requires at most 64 KiB.
func (c *Check) Text(field, value string) {
	c.That(len(value) <= maxText, field, "Must have at most "+strconv.Itoa(maxText)+" bytes")
}

// Name requires a single line of at most 200 bytes.
func (c *Check) Name(field, value string) {
	c.Required(field, value)
	c.That(len(value) <= maxName && !strings.ContainsAny(value, "\r\n\t\x00"), field, "Must be one line of at most 200 bytes")
}

// UUID requires an optional UUID, and converts it to lower case.
func (c *Check) UUID(field string, value *string) {
	c.That(*value == "" || carillon.ValidUUID(*value), field, "Must be a UUID")
	*value = strings.ToLower(*value)
}

var identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ValidIdentifier reports whether s has the form of an id chosen by the company.
func ValidIdentifier(s string) bool { return identifier.MatchString(s) }

// Identifier requires an id chosen by the company.
func (c *Check) Identifier(field, value string) {
	c.That(ValidIdentifier(value), field, "Must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -")
}

// Choice requires one of the words. The first one is the default.
func (c *Check) Choice(field string, value *string, words ...string) {
	if *value == "" {
		*value = words[0]
	}
	c.That(slices.Contains(words, *value), field, "Must be one of "+strings.Join(words, ", "))
}

// Words requires a list of distinct words from a set, and replaces an absent list by an empty one.
func (c *Check) Words(field string, values *[]string, words ...string) {
	*values = List(*values)
	for i, v := range *values {
		at := Index(field, i)
		c.That(slices.Contains(words, v), at, "Must be one of "+strings.Join(words, ", "))
		c.That(!slices.Contains((*values)[:i], v), at, "Names the same twice")
	}
}

// Language requires the form of a BCP 47 tag. The default is en.
func (c *Check) Language(field string, value *string) {
	if *value == "" {
		*value = "en"
	}
	c.That(ValidLanguage(*value), field, "Must be a language such as es or pt-BR")
}

// Address requires an http or https address.
func (c *Check) Address(field, value string) {
	fault := AddressFault(value, "Must be an http or https address", "https", "http")
	c.That(fault == "", field, fault)
}

// AddressFault returns the reason why text is not a valid server address, or "" if it is. If text is not a URL with
// one of the schemes, the reason is rule.
func AddressFault(text, rule string, schemes ...string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxAddress:
		return "Must have at most " + strconv.Itoa(maxAddress) + " bytes"
	case err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "":
		return rule
	case u.User != nil:
		return "Must have no user and no password in it: addresses are shown and logged"
	}
	return ""
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// ValidLanguage reports whether s has the form of a BCP 47 tag.
func ValidLanguage(s string) bool { return len(s) <= maxLanguage && languageTag.MatchString(s) }

// List replaces an absent list by an empty one, so that it is encoded as a list in JSON.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Index returns the path of a list element.
func Index(field string, i int) string { return field + "." + strconv.Itoa(i) }
