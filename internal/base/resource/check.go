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

// Check gathers what is wrong with a resource. The zero value is ready.
type Check struct{ faults []error }

// Err joins the faults; nil when there are none.
func (c *Check) Err() error { return errors.Join(c.faults...) }

// That adds a fault unless the rule holds; reason completes "this field …", as in "Must be a UUID".
func (c *Check) That(holds bool, field, reason string) {
	if !holds {
		c.faults = append(c.faults, carillon.Invalid(field, reason))
	}
}

// Required demands a text that is not blank, of at most 64 KiB.
func (c *Check) Required(field, value string) {
	if strings.TrimSpace(value) == "" {
		c.faults = append(c.faults, carillon.Missing(field))
		return
	}
	c.Text(field, value)
}

// Text demands at most 64 KiB.
func (c *Check) Text(field, value string) {
	c.That(len(value) <= maxText, field, "Must have at most "+strconv.Itoa(maxText)+" bytes")
}

// Name demands a text on one line of at most 200 bytes.
func (c *Check) Name(field, value string) {
	c.Required(field, value)
	c.That(len(value) <= maxName && !strings.ContainsAny(value, "\r\n\t\x00"), field, "Must be one line of at most 200 bytes")
}

// UUID demands a UUID where there is a value, and writes it in lower case.
func (c *Check) UUID(field string, value *string) {
	c.That(*value == "" || carillon.ValidUUID(*value), field, "Must be a UUID")
	*value = strings.ToLower(*value)
}

var identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ValidIdentifier reports whether s has the form of an id that is chosen by the company.
func ValidIdentifier(s string) bool { return identifier.MatchString(s) }

// Identifier demands an id that is chosen by the company.
func (c *Check) Identifier(field, value string) {
	c.That(ValidIdentifier(value), field, "Must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -")
}

// Choice demands one of the words; the first is the default.
func (c *Check) Choice(field string, value *string, words ...string) {
	if *value == "" {
		*value = words[0]
	}
	c.That(slices.Contains(words, *value), field, "Must be one of "+strings.Join(words, ", "))
}

// Words demands a list of some of the words, each once, and makes an absent list an empty one.
func (c *Check) Words(field string, values *[]string, words ...string) {
	*values = List(*values)
	for i, v := range *values {
		at := Index(field, i)
		c.That(slices.Contains(words, v), at, "Must be one of "+strings.Join(words, ", "))
		c.That(!slices.Contains((*values)[:i], v), at, "Names the same twice")
	}
}

// Language demands a BCP 47 tag, as far as its form goes; the default is en.
func (c *Check) Language(field string, value *string) {
	if *value == "" {
		*value = "en"
	}
	c.That(ValidLanguage(*value), field, "Must be a language such as es or pt-BR")
}

// Address demands an http or https address.
func (c *Check) Address(field, value string) {
	fault := AddressFault(value, "Must be an http or https address", "https", "http")
	c.That(fault == "", field, fault)
}

// AddressFault returns why a text is no address of a server, or "". rule is the reason where it has another form, or none of the schemes.
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

// List makes an absent list an empty one, so that it is a list in JSON.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Index is the path of an element of a list.
func Index(field string, i int) string { return field + "." + strconv.Itoa(i) }
