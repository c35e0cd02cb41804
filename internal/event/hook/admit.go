package hook

import (
	"context"
	"net/url"

	"carillon"
	"carillon/internal/base/egress"
)

// Undeliverable reports whether nothing can be delivered to a webhook on this installation, as far as its address alone shows: what its host's
// name resolves to is checked with each delivery, because that changes.
func Undeliverable(out *egress.Client, w *Webhook) bool {
	u, err := url.Parse(w.URL)
	return err == nil && out.AdmitUnresolved(u) != nil
}

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
	return carillon.Invalid("url", "Must be an https address of the public internet; the setting media-allow-private names private networks that are allowed too")
}
