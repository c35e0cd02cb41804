package hook

import (
	"context"
	"net/netip"
	"net/url"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/egress"
)

// Undeliverable reports whether nothing can be delivered to a webhook on this installation, as far as its address alone shows:
// what its host's name resolves to is checked with each delivery, because that changes.
func Undeliverable(out *egress.Client, w *Webhook) bool {
	u, err := url.Parse(w.URL)
	return err == nil && out.AdmitUnresolved(u) != nil
}

// Unreached are the webhooks of a set-up to which nothing can be delivered. They are stored all the same: a set-up that was applied
// before must not keep the program from starting.
func Unreached(out *egress.Client, p *config.Provision) (found config.Problems) {
	for i := range p.Companies {
		for _, x := range p.Companies[i].Resources {
			if w, ok := x.Resource.(*Webhook); ok && Undeliverable(out, w) {
				found = append(found, config.Problem{At: x.At, Text: "nothing can be delivered to the webhook at " + host(w.URL) +
					": give it an https address of the public internet, or have media-allow-private name its network", Field: "url"})
			}
		}
	}
	return found
}

// NewClient builds the client that delivers; allowed are private networks that webhooks may be in.
func NewClient(allowed []netip.Prefix) *egress.Client {
	return egress.New(egress.Options{
		AllowPrivate: allowed, AnyPort: true, PerHost: connections, Timeout: Timeout, MaxBody: -1, Redirects: -1,
	})
}

// connections are kept open to an endpoint.
const connections = 8

// Admit refuses a webhook that nothing could be delivered to, before it is stored. One that has this address already keeps it, so that the
// rest of it can be changed.
func (d *Deliverer) Admit(ctx context.Context, companyID string, w *Webhook) error {
	if !Undeliverable(d.o.Client, w) {
		return nil
	}
	if w.ID != "" {
		stored, err := d.Find(ctx, companyID, w.ID)
		switch {
		case err == nil && stored.URL == w.URL:
			return nil
		case err != nil && !carillon.IsCode(err, carillon.NotFound):
			return err
		}
	}
	return carillon.Invalid("url", "Must be an https address of the public internet; the setting media-allow-private names private "+
		"networks that are allowed too")
}
