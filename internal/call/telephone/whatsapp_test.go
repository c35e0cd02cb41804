package telephone_test

import (
	"context"
	"crypto/tls"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
	"carillon/internal/call/sip/metatest"
	"carillon/internal/call/telephone"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

const (
	germanNumber = "4915550100101"
	ourHost      = "sip.acme.test"
	made         = "made-by-the-channel"
)

// overWhatsApp returns the messaging side of the rig's lines for calls over WhatsApp.
func (r *rig) overWhatsApp() telephone.WhatsApp {
	return telephone.WhatsApp{
		Sender: func(_ context.Context, companyID, id string) (*carillon.Sender, error) {
			return &carillon.Sender{CompanyID: companyID, ID: id, Channel: carillon.Messaging, Provider: "whatsapp"}, nil
		},
		Known: func(_ *carillon.Sender, number, userID string) (all []identity.Identity) {
			if number != "" {
				all = append(all, identity.Identity{Kind: identity.Line, Key: identity.Number(number)})
			}
			if userID != "" {
				all = append(all, identity.Identity{Kind: identity.Person, Scope: "acme", Key: identity.User(userID)})
			}
			return all
		},
		Permission: func(context.Context, *carillon.Sender, string, string) (provider.CallPermission, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.permission, nil
		},
		Called: func(_ context.Context, _ *carillon.Sender, number, userID string, _ time.Time) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.windows = append(r.windows, number+"/"+userID)
			return nil
		},
	}
}

// onBoth runs a test with a strict peer, over real sockets, on both databases.
func onBoth(t *testing.T, test func(t *testing.T, r *rig, p *metatest.Peer)) {
	t.Helper()
	for name, kept := range map[string]func(t *testing.T) store.Options{
		"sqlite":   func(t *testing.T) store.Options { t.Helper(); return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options { t.Helper(); return store.Options{DatabaseURL: storetest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := metatest.Certificate(ourHost)
			if err != nil {
				t.Fatal(err)
			}
			p, err := metatest.New(metatest.Options{Number: germanNumber, Hostname: ourHost, Password: made, TLS: files})
			if err != nil {
				t.Fatal(err)
			}
			a := robin()
			a.Record, a.Result = false, nil
			r := newRigOf(t, a, kept(t), overTLS(files))
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			r.lines = []*carillon.Sender{{
				UID: 1, CompanyID: r.company, ID: "main-calls", Number: germanNumber, Channel: carillon.Voice, Provider: "sip",
				Settings: []byte(`{"trunk":"sip:` + p.Address() + `","domain":"` + ourHost + `","username":"` + germanNumber +
					`","password":"` + made + `","realm":"wa.meta.vc","agent":"` + theAgent + `","public":"true","whatsapp":"main"}`),
			}}
			trunk, err := sip.TrunkOf(r.lines[0].Settings)
			if err != nil {
				t.Fatal(err)
			}
			r.trunk = &trunk
			test(t, r, p)
			if faults := p.Faults(); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

func overTLS(files *tls.Config) sip.Options {
	return sip.Options{
		TLS: "127.0.0.1:0", TLSFiles: files, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
}

// ends waits until the end of a call is stored.
func (r *rig) ends(c *metatest.Call) {
	r.t.Helper()
	r.until("the end", func() bool {
		all, _, err := r.store.Incoming.List(r.t.Context(), r.company, calls.IncomingFilter{Limit: 10})
		return err == nil && slices.ContainsFunc(all, func(x *calls.ListedIncoming) bool { return x.WACID == c.WACID && !x.UnderWay })
	})
}

func TestACallOverWhatsAppReachesTheAgent(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig, p *metatest.Peer) {
		for name, who := range map[string]metatest.Person{
			"by number": {Number: "34600111222"}, "by id": {UserID: "ES.77"}, "by both": {Number: "34600111333", UserID: "ES.78"},
		} {
			c, err := p.Ring(t.Context(), r.engine.SecureAddress().String(), who, "")
			if err != nil {
				t.Fatal(name, err, p.Faults())
			}
			r.until("sound", func() bool { _, n := c.Heard(); return n > 0 })
			c.HangUp()
			r.ends(c)
			id := ""
			all, _, err := r.store.Incoming.List(t.Context(), r.company, calls.IncomingFilter{Limit: 1})
			if err != nil || len(all) == 0 {
				t.Fatal(name, all, err)
			}
			x := all[0]
			if id = x.ConversationID; x.State != carillon.StateCompleted || x.WACID != c.WACID || x.Number != who.Number || id == "" {
				t.Errorf("%s: %+v", name, x)
			}
			talk, err := r.store.Chats.Find(t.Context(), r.company, id)
			if err != nil || talk.Channel != telephone.Channel {
				t.Fatal(name, talk, err)
			}
			contact, err := r.store.Contacts.ContactOf(t.Context(), r.company, talk.ContactID)
			if err != nil || contact.Number != who.Number || contact.UserID != who.UserID {
				t.Errorf("%s: %+v, %v", name, contact, err)
			}
			r.mu.Lock()
			if !slices.Contains(r.windows, who.Number+"/"+who.UserID) {
				t.Errorf("%s: windows %q", name, r.windows)
			}
			r.mu.Unlock()
		}
		_, err := p.Ring(t.Context(), r.engine.SecureAddress().String(), metatest.Person{Number: "34600111222"}, "guess")
		if err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("a wrong password: %v", err)
		}
	})
}

func TestACallOverWhatsAppIsPlacedWithPermission(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig, p *metatest.Peer) {
		r.permission = provider.CallPermission{Given: true, MayCall: true}
		d := &diary{}
		ended := make(chan dial.Ending, 1)
		x := r.call("1222", 1)
		go func() { ended <- r.Place(t.Context(), r.lines[0], x, d) }()
		c := await(t, p.Calls())
		r.until("sound", func() bool { _, n := c.Heard(); return n > 10 })
		c.HangUp()
		e := await(t, ended)
		if e.State != carillon.StateCompleted || e.EndedBy != "callee" || d.wacid != c.WACID {
			t.Errorf("%+v, %+v", e, d)
		}
		turns, err := r.store.Chats.Turns(t.Context(), r.company, d.conversation, 0, 10)
		if err != nil || !slices.ContainsFunc(turns, func(t chats.Turn) bool { return strings.Contains(t.Text, "Hello Ana") }) {
			t.Errorf("%+v, %v", turns, err)
		}
		if c.Number != x.Number {
			t.Errorf("%s was called", c.Number)
		}
	})
}

func TestACallWithoutPermissionIsNotDialed(t *testing.T) {
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for detail, x := range map[string]struct {
		permission provider.CallPermission
		number     string // of the line
	}{
		"CALL_PERMISSION_REQUEST":                 {provider.CallPermission{MayAsk: true}, germanNumber},
		"reached until 2026-12-01T08:00:00Z":      {provider.CallPermission{Given: true, CallAt: at}, germanNumber},
		"numbers of the United States and Canada": {provider.CallPermission{Given: true, MayCall: true}, lineNumber},
		"from numbers of Nigeria":                 {provider.CallPermission{Given: true, MayCall: true}, "2348012345678"},
	} {
		t.Run(detail, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				r.permission = x.permission
				r.trunk = &sip.Trunk{Host: r.phone.Address(), Transport: "udp", WhatsApp: "main"}
				line := r.line()
				line.Number = x.number
				d := &diary{}
				e := r.Place(t.Context(), line, r.call("0018", 1), d)
				if e.State != carillon.StateFailed || e.Reason != carillon.ReasonCallNotAllowed || !strings.Contains(e.Detail, detail) ||
					len(r.phone.Heard("34600110018")) > 0 {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// A call that ended at WhatsApp without reaching this installation has a record; one that was taken here keeps its own.
func TestACallKnownFromACallbackIsRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig, p *metatest.Peer) {
		line := *r.lines[0]
		line.MediaCheck = "syntax"
		if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			_, err := settings.DeclareSender(ctx, tx, &line, time.Now())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		c, err := p.Ring(t.Context(), r.engine.SecureAddress().String(), metatest.Person{Number: "34600111222"}, "")
		if err != nil {
			t.Fatal(err)
		}
		c.HangUp()
		r.ends(c)
		at := time.Now().Truncate(time.Second)
		end := provider.CallReport{WACID: c.WACID, Incoming: true, Ended: true, Answered: true, Number: "34600111222", At: at, Start: at}
		missed := provider.CallReport{WACID: "wacid.missed", Incoming: true, Ended: true, Number: "34600111333", At: at}
		created := missed
		created.Ended = false
		s := &carillon.Sender{CompanyID: r.company, ID: "main"}
		for _, all := range [][]provider.CallReport{{missed, end}, {created, missed}, {end}} { // twice and in another order
			if err := r.Reported(t.Context(), s, all); err != nil {
				t.Fatal(err)
			}
		}
		all, _, err := r.store.Incoming.List(t.Context(), r.company, calls.IncomingFilter{Limit: 10})
		if err != nil || len(all) != 2 {
			t.Fatal(all, err)
		}
		states := map[string]carillon.State{}
		for _, x := range all {
			states[x.WACID] = x.State
		}
		if states[c.WACID] != carillon.StateCompleted || states["wacid.missed"] != carillon.StateFailed {
			t.Errorf("%v", states)
		}
	})
}
