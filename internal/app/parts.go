package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/base/provider"
	"carillon/internal/call/sip"
	"carillon/internal/edge/api"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/send/whatsapp"
)

// Adapters between parts that do not import each other.

// sandboxReceipts passes the sandbox's receipts to notify. They are all of one sender.
func (a *App) sandboxReceipts(ctx context.Context, rs []provider.Receipt) error {
	if len(rs) == 0 {
		return nil
	}
	s, err := a.store.Senders.Sender(ctx, rs[0].SenderUID)
	if err != nil {
		return err
	}
	return a.notify.Receive(ctx, s, rs)
}

// media checks the files of headers.
type media struct{ *egress.Prober }

// CheckMedia implements notify.Media: it distinguishes a rejected file from a failure of the network.
func (m media) CheckMedia(ctx context.Context, companyID, format, url string) (rejected bool, err error) {
	kind, ok := egress.KindOf(format)
	if !ok {
		return false, nil
	}
	err = m.Check(ctx, companyID, kind, url)
	var bad *egress.MediaError
	return errors.As(err, &bad), err
}

// panelProviders are the providers that the panel may give to senders. Trunks may be in these private networks; other addresses go
// by what egress allows.
func panelProviders(cloud *whatsapp.Client, out *egress.Client, trunks []netip.Prefix) map[string]channels.Provider {
	return map[string]channels.Provider{
		"whatsapp": {
			Check: whatsapp.CheckSettings, Shown: whatsapp.ShownSettings(), Secrets: whatsapp.SecretSettings(), Inspect: cloud.Check, Subscribe: cloud.Subscribe,
			Away: &channels.Away{Setting: "base_url", Usual: whatsapp.DefaultBaseURL, Mark: "public", Secret: "access_token", Admit: admitGraph(out)},
		},
		"sandbox": {},
		"sip": {
			Check: sip.CheckSettings, Shown: sip.ShownSettings(),
			Away: &channels.Away{Setting: "trunk", Mark: "public", Secret: "password", Admit: admitTrunk(trunks), Claim: "claimed", Meets: meetTrunks},
		},
	}
}

// admitGraph checks the address of the channel that a member of the company gave.
func admitGraph(out *egress.Client) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, settings json.RawMessage) error {
		const field = "settings.base_url"
		base, chosen, err := whatsapp.BaseURL(settings)
		if err != nil || !chosen {
			return err
		}
		err = out.Admit(ctx, base)
		var denied *egress.DeniedError
		switch {
		case errors.As(err, &denied):
			return carillon.Invalid(field, "Must be an https address on port 443 of the public internet; the setting media-allow-private names private networks that are allowed too")
		case err != nil:
			return carillon.Invalid(field, "This name has no address")
		}
		return nil
	}
}

// callbacks returns the functions that read the callbacks of each provider.
func callbacks() map[string]api.Callback {
	return map[string]api.Callback{"whatsapp": {
		Handshake: whatsapp.Handshake,
		Signed:    func(header http.Header) bool { return whatsapp.Signed(header.Get(whatsapp.SignatureHeader)) },
		Verify: func(settings json.RawMessage, header http.Header, body []byte) bool {
			return whatsapp.Verify(settings, header.Get(whatsapp.SignatureHeader), body)
		},
		Portfolio: portfolioOf,
		Parse: func(body []byte, s *carillon.Sender) (api.CallbackEvents, error) {
			c, err := whatsapp.ParseCallback(body, s.UID)
			if len(c.PhoneNumberIDs) > 0 && !slices.Contains(c.PhoneNumberIDs, whatsapp.PhoneNumberID(s.Settings)) {
				c.Receipts = nil
			}
			inbound, elsewhere := c.InboundFor(s.Settings)
			return api.CallbackEvents{
				Receipts: c.Receipts, Templates: c.Templates, Replies: c.Replies, Inbound: inbound, Elsewhere: elsewhere, Unnamed: c.Unnamed,
				Notice: c.Newest(s.Settings, s.Number), Concerned: c.Concerns(s.Settings), Ignored: c.Ignored,
				Preferences: c.PreferencesFor(s.Settings),
			}, err
		},
	}}
}
