package hook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/egress"
)

// Undeliverable reports whether the address of a webhook alone rules out any delivery on this installation. The
// addresses that its host resolves to may change, so they are checked on each delivery.
func Undeliverable(out *egress.Client, w *Webhook) bool {
	u, err := url.Parse(w.URL)
	return err == nil && out.AdmitUnresolved(u) != nil
}

// Unreached returns the webhooks of a set-up to which nothing can be delivered. They are stored anyway, because a
// set-up that was applied before must not keep the program from starting.
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

// NewClient returns the client for deliveries. allowed are private networks in which webhooks may be.
func NewClient(allowed []netip.Prefix) *egress.Client {
	return egress.New(egress.Options{
		AllowPrivate: allowed, AnyPort: true, PerHost: connections, Timeout: Timeout, MaxBody: -1, Redirects: -1,
	})
}

// connections is the number of idle connections kept per endpoint.
const connections = 8

const maxLookup = 2 * time.Second

// Warning returns the reason if the host of a webhook does not exist, or "". The host may be added later, so the webhook is
// stored anyway.
func (d *Deliverer) Warning(ctx context.Context, w *Webhook) string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, maxLookup)
	defer cancel()
	err = d.o.Client.Resolve(ctx, u.Hostname())
	if x, ok := errors.AsType[*net.DNSError](err); !ok || !x.IsNotFound {
		return ""
	}
	return reason(err)
}

// Admit refuses an undeliverable webhook before it is stored. A stored webhook may keep its address, so that its other
// fields can be changed.
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
