package paneltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/call/handset"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/configure"
)

// fakeCalls hangs up stored calls but places none.
type fakeCalls struct{ store *store.Store }

func (x fakeCalls) HangUp(ctx context.Context, companyID, id string) (carillon.State, error) {
	n, err := x.store.Notifications.Find(ctx, companyID, id)
	if err != nil || n.Channel != carillon.Voice {
		return "", err
	}
	state, _, err := x.store.Calls.HangUp(ctx, companyID, n.Seq().Message(0))
	return state, err
}

func (w *World) Execute(query string, args ...any) {
	w.T.Helper()
	err := w.Store.Config.Update(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// admitTrunk admits only trunks at example.com if a member chose them.
func admitTrunk(_ context.Context, settings json.RawMessage) error {
	t, err := sip.TrunkOf(settings)
	if err == nil && t.Public && !strings.HasSuffix(t.Host, "example.com") {
		err = carillon.Invalid("settings.trunk", "Must be at a public address")
	}
	return err
}

// meetTrunks treats sip.example.com and same.example.com as the same address.
func meetTrunks(_ context.Context, one, other json.RawMessage) bool {
	name := func(raw json.RawMessage) string {
		t, err := sip.TrunkOf(raw)
		if err != nil {
			return err.Error()
		}
		return strings.Replace(t.Name(), "same.", "sip.", 1)
	}
	return name(one) == name(other)
}

// fakeLines are lines whose trunk responds but refuses every call.
type fakeLines struct{ asked []string }

func (l *fakeLines) Health(*carillon.Sender) sip.Health { return sip.Health{} }

func (l *fakeLines) Registration(line *carillon.Sender) sip.Registration {
	switch line.ID {
	case "registered":
		return sip.Registration{At: time.Now(), Until: time.Now().Add(time.Hour), Code: 200, Reason: "OK"}
	case "refused":
		return sip.Registration{At: time.Now(), Code: 403, Reason: "Forbidden"}
	case "dead":
		return sip.Registration{At: time.Now(), Err: errors.New("nothing came")}
	}
	return sip.Registration{}
}

func (l *fakeLines) Disputed(lines []*carillon.Sender) bool { return len(lines) > 1 }

func (l *fakeLines) Denies(number string) bool { return strings.HasPrefix(number, "979") }

func (l *fakeLines) Ask(_ context.Context, line *carillon.Sender) (sip.Health, error) {
	l.asked = append(l.asked, line.ID)
	if line.ID == "dead" {
		return sip.Health{At: time.Now(), Err: errors.New("nothing came")}, nil
	}
	return sip.Health{At: time.Now(), Code: 405, Reason: "Method Not Allowed", Took: 12 * time.Millisecond}, nil
}

func (l *fakeLines) Try(_ context.Context, _ *carillon.Sender, x telephone.Trial) telephone.TrialEnd {
	x.Show(telephone.TrialStep{Ours: true, Text: "INVITE " + x.Number})
	x.Show(telephone.TrialStep{After: 20 * time.Millisecond, Code: 403, Text: "403 Forbidden"})
	return telephone.TrialEnd{Problem: "forbidden", Code: 403, Detail: x.Company + " " + x.Language}
}

// fakePhone is a sandbox phone that received no calls.
type fakePhone struct{}

func (fakePhone) Calls(string) []*handset.Heard { return nil }

// exchange records the panel's requests to the channel.
type exchange struct {
	Received []provider.Inbound
	Reads    []bool // value of typing in each call
}

func (x *exchange) Receive(_ context.Context, _ *carillon.Sender, all []provider.Inbound) error {
	x.Received = append(x.Received, all...)
	return nil
}

func (x *exchange) Read(_ context.Context, _, _ string, typing bool) error {
	x.Reads = append(x.Reads, typing)
	return nil
}

func (x *exchange) MessageID(number, client string) string { return number + "/" + client }
func (x *exchange) Refresh(context.Context) error          { return nil }
func (x *exchange) Person(_ *carillon.Sender, username string) identity.Identity {
	return identity.Identity{Kind: identity.Person, Scope: "sandbox", Key: identity.User("ZZ." + username)}
}

func (x *exchange) Sample(id string) (provider.InboundFile, bool) {
	return provider.InboundFile{ID: id}, id == "photo"
}

// admitChannel admits only addresses at example.com if a member chose them.
func admitChannel(_ context.Context, settings json.RawMessage) error {
	base, chosen, err := whatsapp.BaseURL(settings)
	if err == nil && chosen && !strings.HasSuffix(base.Host, "example.com") {
		err = carillon.Invalid("settings.base_url", "Must be at a public address")
	}
	return err
}

// fakeCloud is a channel that returns the same findings for every sender.
type fakeCloud struct {
	Found      provider.Inspection
	Asked      []string
	Subscribed []string
	Redirected []string // addresses of callbacks
	Calling    channels.Calling

	Granted                   provider.Granted // of every code
	Grants                    []provider.Grant
	SubscribeErr, RedirectErr error

	Calls    provider.CallSettings // as they were set last
	CallsErr error
}

func (c *fakeCloud) setCalls(_ context.Context, _ *carillon.Sender, x provider.CallSettings) (provider.CallSettings, error) {
	if c.CallsErr != nil {
		return x, c.CallsErr
	}
	if x.On {
		x.Password = "madebythechannel"
	}
	c.Calls = x
	return x, nil
}

func (c *fakeCloud) inspect(_ context.Context, s *carillon.Sender) provider.Inspection {
	c.Asked = append(c.Asked, s.ID)
	return c.Found
}

func (c *fakeCloud) subscribe(_ context.Context, s *carillon.Sender) error {
	c.Subscribed = append(c.Subscribed, s.ID)
	return c.SubscribeErr
}

func (c *fakeCloud) redirect(_ context.Context, _ *carillon.Sender, address string) error {
	c.Redirected = append(c.Redirected, address)
	return c.RedirectErr
}

func (c *fakeCloud) exchange(_ context.Context, g provider.Grant) (provider.Granted, error) {
	c.Grants = append(c.Grants, g)
	return c.Granted, nil
}

// calling returns the channel's calls, which a test may change.
func (c *fakeCloud) calling() *channels.Calling {
	c.Calling = channels.Calling{Trunk: "sip:wa.meta.vc;transport=tls", Realm: "wa.meta.vc", Set: c.setCalls}
	return &c.Calling
}
