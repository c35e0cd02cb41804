// Package secret defines the secrets that flows send to a company's servers: keys, tokens and passwords, each with a name and the hosts
// that it may be sent to. Values are sealed in the database (resource.Secretive), and no response has them.
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

// Secret is a value with a name.
type Secret struct {
	Name  string   `json:"name"` // as in {{secret.name}}
	Hosts []string `json:"hosts"`
	Value string   `json:"value,omitempty" secret:"true"`
}

const (
	maxSecrets = 200 // of a company
	maxHosts   = 20
	minValue   = 8    // bytes: a shorter one could stand in a response by chance
	maxValue   = 4000 // bytes
)

// Hidden stands where a secret's value would.
const Hidden = "•••"

// Mention is the prefix of a secret's name in a placeholder.
const Mention = "secret."

// Kind describes secrets.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "secret", Plural: "secrets", Phrase: "a secret", Local: true, Most: maxSecrets, Mention: Mention,
		New: func() resource.Resource { return &Secret{} },
	}
}

// Key implements resource.Resource.
func (s *Secret) Key() (id, name *string) { return &s.Name, &s.Name }

// Secrets implements resource.Secretive. For other hosts the value must be given again: who may change the hosts must not learn it by that.
func (s *Secret) Secrets() []resource.Secret {
	return []resource.Secret{{Value: &s.Value, Use: strings.Join(s.Hosts, " "), Required: "value"}}
}

var (
	nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	hostForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
)

// ValidName reports whether a name is one of a secret.
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

// For reports whether the secret may be sent to a host, of an address that may have placeholders behind it.
func (s *Secret) For(host string) bool { return slices.Contains(s.Hosts, strings.ToLower(host)) }

// Redactor removes the values of secrets from responses.
type Redactor struct{ replacer *strings.Replacer }

// NewRedactor returns a redactor of values, as they are and as requests and responses write them.
func NewRedactor(values map[string]string) *Redactor {
	var forms []string
	for _, value := range values {
		quoted, _ := json.Marshal(value) // a text
		query, raw := url.QueryEscape(value), []byte(value)
		forms = append(forms, value, string(quoted[1:len(quoted)-1]), query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value))
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString(raw))
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may begin another
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, Hidden)
	}
	return &Redactor{strings.NewReplacer(pairs...)}
}

// Text returns a text without the values.
func (r *Redactor) Text(text string) string { return r.replacer.Replace(text) }
