// Package secret defines the secrets that flows send to a company's servers: keys, tokens and passwords, each with a
// name and the hosts to which it may be sent. Values are stored encrypted (resource.Secretive), and no response
// contains them.
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/base/resource"
)

// Secret is a named secret value.
type Secret struct {
	Name  string   `json:"name"` // as in {{secret.name}}
	Hosts []string `json:"hosts"`
	Value string   `json:"value,omitempty" secret:"true"`
}

const (
	maxSecrets = 200 // per company
	maxHosts   = 20
	minValue   = 8    // bytes; a shorter value could occur in a response by chance
	maxValue   = 4000 // bytes
)

// Hidden replaces a secret's value in responses.
const Hidden = "•••"

// Mention is the prefix of a secret's name in a placeholder.
const Mention = "secret."

// Kind returns the resource kind of secrets.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "secret", Plural: "secrets", Phrase: "a secret", Local: true, Most: maxSecrets, Mention: Mention,
		New: func() resource.Resource { return &Secret{} },
	}
}

// Key implements resource.Resource.
func (s *Secret) Key() (id, name *string) { return &s.Name, &s.Name }

// Secrets implements resource.Secretive. If the hosts change, the value must be entered again: a user who may change
// the hosts must not learn the value that way.
func (s *Secret) Secrets() []resource.Secret {
	return []resource.Secret{{Value: &s.Value, Use: strings.Join(s.Hosts, " "), Required: "value"}}
}

var (
	nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	hostForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
)

// ValidName reports whether a name is valid for a secret.
func ValidName(name string) bool { return nameForm.MatchString(name) }

// Validate implements resource.Resource.
func (s *Secret) Validate() error {
	var c resource.Check
	c.That(ValidName(s.Name), "name", "Must be a word of letters, digits and _, such as shop_key")
	s.Hosts = resource.List(s.Hosts)
	c.That(len(s.Hosts) > 0 && len(s.Hosts) <= maxHosts, "hosts", "Must have 1 to 20 entries: the hosts that it may be sent to")
	for i, host := range s.Hosts {
		s.Hosts[i] = strings.ToLower(host)
		_, err := netip.ParseAddr(host)
		c.That(err == nil || len(host) <= 253 && hostForm.MatchString(s.Hosts[i]), resource.Index("hosts", i),
			"Must be a host such as api.example.com, without https://, port and path")
	}
	slices.Sort(s.Hosts)
	s.Hosts = slices.Compact(s.Hosts)
	c.That(s.Value == "" || len(s.Value) >= minValue && len(s.Value) <= maxValue && !strings.Contains(s.Value, "\x00"),
		"value", "Must have "+strconv.Itoa(minValue)+" to "+strconv.Itoa(maxValue)+" bytes")
	return c.Err()
}

// For reports whether the secret may be sent to a host.
func (s *Secret) For(host string) bool { return slices.Contains(s.Hosts, strings.ToLower(host)) }

// Redactor removes the values of secrets from responses.
type Redactor struct{ replacer *strings.Replacer }

// NewRedactor returns a redactor of values, in plain form and in the encodings of requests and responses.
func NewRedactor(values map[string]string) *Redactor {
	var forms []string
	for _, value := range values {
		quoted, _ := json.Marshal(value) // cannot fail for a string
		query, raw := url.QueryEscape(value), []byte(value)
		forms = append(forms, value, string(quoted[1:len(quoted)-1]), query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value))
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString(raw))
		}
	}
	// Longest first, because one form may be a prefix of another.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, Hidden)
	}
	return &Redactor{strings.NewReplacer(pairs...)}
}

// Text returns a text with the values replaced.
func (r *Redactor) Text(text string) string { return r.replacer.Replace(text) }
