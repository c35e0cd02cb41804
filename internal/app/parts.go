package app

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/provider"
	"carillon/internal/call/sip"
	"carillon/internal/edge/api"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/send/whatsapp"
)

// Adapters between parts that do not import each other.

// portfolioOf returns the scope of the person IDs that a sender receives: a business portfolio on WhatsApp. In the
// sandbox, all senders of a company share one.
func portfolioOf(s *carillon.Sender) string {
	if s.Provider == "whatsapp" {
		return whatsapp.Portfolio(s.Settings)
	}
	return s.Provider
}

// panelProviders are the providers that the panel offers for senders. Trunks may be in the private networks that the
// operator allows; other addresses follow the egress rules.
func panelProviders(cloud *whatsapp.Client, c *config.Config, peer string) map[string]channels.Provider {
	return map[string]channels.Provider{
		"whatsapp": {
			Check: whatsapp.CheckSettings, Shown: whatsapp.ShownSettings(), Secrets: whatsapp.SecretSettings(),
			Inspect: cloud.Check, Subscribe: cloud.Subscribe, Explain: whatsapp.Explain,
			Register: cloud.Register, SetPIN: cloud.SetPIN, AskHistory: cloud.AskHistory, Redirect: cloud.Redirect,
			Calling: &channels.Calling{
				Trunk: "sip:" + cmp.Or(peer, whatsapp.CallPeer) + ";transport=tls", Realm: whatsapp.CallPeer,
				Closed: c.SIPTLSAddr == "", Set: whatsapp.CallsOf(cloud).Set,
			},
			Away: &channels.Away{
				Setting: "base_url", Usual: whatsapp.DefaultBaseURL, Mark: "public", Secrets: []string{"access_token", "app_secret"},
				Admit: cloud.Admit,
			},
		},
		"sandbox": {},
		"sip": {
			Check: sip.CheckSettings, Shown: sip.ShownSettings(),
			Away: &channels.Away{
				Setting: "trunk", Mark: "public", Secrets: []string{"password"}, Claim: "claimed",
				Admit: sip.AdmitSettings(c.SIPAllowPrivate), Meets: sip.Meet,
			},
		},
	}
}

// signUp returns the sign-up by the operator's application at the channel; nil without one.
func signUp(c *config.Config, cloud *whatsapp.Client, base string) *channels.SignUp {
	if c.MetaAppID == "" {
		return nil
	}
	app := whatsapp.App{ID: c.MetaAppID, Secret: c.MetaAppSecret.Reveal(), ConfigID: c.MetaConfigID, BaseURL: base}
	return &channels.SignUp{
		Provider: "whatsapp", AppID: app.ID, ConfigID: app.ConfigID, Version: whatsapp.DefaultVersion,
		Exchange: func(ctx context.Context, g provider.Grant) (provider.Granted, error) {
			return cloud.SignUp(ctx, app, g)
		},
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
				Receipts: c.Receipts, Templates: c.TemplatesFor(s.Settings), Replies: c.Replies, Inbound: inbound, Elsewhere: elsewhere,
				Unnamed: c.Unnamed,
				Notice:  c.Newest(s.Settings, s.Number), Concerned: c.Concerns(s.Settings), Ignored: c.Ignored,
				Preferences: c.PreferencesFor(s.Settings), History: c.HistoryFor(s.Settings),
				Calls: c.CallsFor(s.Settings),
			}, err
		},
	}}
}
