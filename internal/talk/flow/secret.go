package flow

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
)

const secretKind = "secret"

// secretsIn returns the names of secrets in a text's placeholders, such as {{secret.shop_key}}.
func secretsIn(text string) (all []string) {
	for {
		_, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return all
		}
		if name, is := strings.CutPrefix(strings.TrimSpace(name), secret.Mention); is {
			all = append(all, name)
		}
		text = after
	}
}

// parts returns the texts of a request that may contain secrets, by field.
func (h *HTTP) parts() map[string]string {
	all := map[string]string{"url": h.URL, "body": h.Body}
	for name, value := range h.Headers {
		all["headers."+name] = value
	}
	return all
}

// Secrets returns the sorted names of the secrets that a request sends.
func (h *HTTP) Secrets() (all []string) {
	for _, text := range h.parts() {
		all = append(all, secretsIn(text)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// references returns the secrets of a request as references, each with a check that it may be sent to the request's
// host.
func (h *HTTP) references(at string) (all []resource.Reference) {
	parts := h.parts()
	for _, field := range slices.Sorted(maps.Keys(parts)) {
		for _, name := range secretsIn(parts[field]) {
			all = append(all, resource.Reference{Field: at + "." + field, Kind: secretKind, To: &name, Check: h.mayHave})
		}
	}
	return all
}

// mayHave returns the reason why the request may not send the secret in doc, or "" if it may.
func (h *HTTP) mayHave(doc []byte) string {
	var s secret.Secret
	if err := json.Unmarshal(doc, &s); err != nil || s.For(h.host()) {
		return ""
	}
	return "The secret " + s.Name + " may not be sent to this host, but to " + strings.Join(s.Hosts, ", ")
}

// host returns the host of the request. Placeholders cannot change it.
func (h *HTTP) host() string {
	u, err := url.Parse(placeholder.ReplaceAllString(h.URL, "x"))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Request returns the effect's request with its secrets filled in. It must never be stored, logged or shown.
func (e *Effect) Request(secrets map[string]string) *HTTP {
	v := make(Values, len(e.values)+len(secrets))
	maps.Copy(v, e.values)
	for name, value := range secrets {
		v[secret.Mention+name] = value
	}
	return v.request(e.step)
}

// Secrets returns the names of the secrets that the effect sends.
func (e *Effect) Secrets() []string { return e.step.Secrets() }

// request returns a step's request with values filled in, escaped in URLs.
func (v Values) request(step *HTTP) *HTTP {
	h := *step
	h.URL, h.Body, h.Headers = v.fillURL(h.URL), v.fillBody(h.Body, h.Headers), v.fillHeaders(h.Headers)
	return &h
}

// withoutSecrets returns the variables with a mask in place of each secret.
func (v Values) withoutSecrets(names []string) Values {
	shown := make(Values, len(v)+len(names))
	maps.Copy(shown, v)
	for _, name := range names {
		shown[secret.Mention+name] = secret.Hidden
	}
	return shown
}
