package content

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/provider"
)

// LinkPath is the path of counted links at the installation's address. A token follows.
const LinkPath = "/l/"

// maxDestination is the longest address, in characters, that a counted link leads to.
const maxDestination = 2000

// DestinationReason is the reason of the error for a value that is no address to which a counted link can lead.
const DestinationReason = "Clicks on this button are counted, so its value must be a whole https address"

// CountClicks marks the buttons whose URL is the prefix of counted links and a variable.
func CountClicks(s *carillon.Shape, prefix string) {
	for i := range s.Buttons {
		b := &s.Buttons[i]
		b.Counted = b.Type == ButtonURL && b.Variable && b.Prefix == prefix
	}
	for i := range s.Cards {
		CountClicks(&s.Cards[i], prefix)
	}
}

// Counted reports whether a template has a counted link.
func Counted(s *carillon.Shape) bool {
	if s == nil {
		return false
	}
	for i := range s.Buttons {
		if s.Buttons[i].Counted {
			return true
		}
	}
	for i := range s.Cards {
		if Counted(&s.Cards[i]) {
			return true
		}
	}
	return false
}

// SetTokens sets the tokens of the counted links of a content, and reports whether it has any. The card is -1 for the
// template itself.
func SetTokens(c *provider.Content, token func(card, button int) string) (has bool) {
	has = setTokens(c, -1, token)
	for i := range c.Cards {
		has = setTokens(&c.Cards[i], i, token) || has
	}
	return has
}

func setTokens(c *provider.Content, card int, token func(card, button int) string) (has bool) {
	for i := range c.Buttons {
		if b := &c.Buttons[i]; b.Destination != "" {
			b.Value, has = token(card, b.Index), true
		}
	}
	return has
}

// Destination returns the address that a counted link of a request leads to: the value for a button, of a card or (-1)
// of the template itself. ok is false if the request has no such address.
func Destination(src *Source, recipient, card, button int) (address string, ok bool) {
	for i := range src.Components {
		c := &src.Components[i]
		if c.place != buttonURL || c.card != card || c.n != button {
			continue
		}
		r := resolver{src: src}
		address = r.valueOf(c, recipient)
		return address, !blank(address) && checkDestination(address) == ""
	}
	return "", false
}

// checkDestination checks the address that a counted link leads to and returns the fault, or "".
func checkDestination(address string) string {
	if n := utf8.RuneCountInString(address); n > maxDestination {
		return fmt.Sprintf("The address has at most %d characters, this one %d", maxDestination, n)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Opaque != "" || u.Hostname() == "" || !validPort(u.Port()):
		return DestinationReason
	case u.User != nil:
		return "The address must have no user name and no password"
	case strings.ContainsFunc(address, unlinkable):
		return "The address must have no spaces and no backslashes"
	}
	return ""
}

// unlinkable reports whether an address must not hold a character, because browsers drop it or read it as another.
func unlinkable(c rune) bool {
	return c == '\\' || unicode.IsSpace(c) || unicode.IsControl(c) || c == utf8.RuneError
}
