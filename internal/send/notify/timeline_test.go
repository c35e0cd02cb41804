package notify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/base/schedule"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
)

// events returns the names and texts of a timeline, and checks that its times are ascending.
func events(t *testing.T, v *notify.View) (all []string) {
	t.Helper()
	last := ""
	for _, e := range v.Timeline {
		if e.At < last || len(e.At) != len("2030-01-31T09:00:00.000Z") {
			t.Errorf("%q is at %s, after %s", e.Text, e.At, last)
		}
		last = e.At
		all = append(all, e.Name+": "+e.Text)
	}
	return all
}

func TestTheTimelineSaysWhichSenderStoodIn(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		t.Cleanup(func() { _ = r.store.Close() })
		ask := func(recipient, extra string) *notify.View {
			b := strings.Replace(string(body(`,"datetime_sending":"2099-01-01T00:00:00"`+extra, "34600111001")),
				`"recipient_id":"main"`, `"recipient_id":"`+recipient+`"`, 1)
			return r.view(r.accept([]byte(b)))
		}
		want := &notify.SenderView{ID: "main", Number: "15555550100"}
		for recipient, stoodIn := range map[string]bool{"main": false, "15555550100": false, "booking\u001b 1": true} {
			v := ask(strings.ReplaceAll(recipient, "\u001b", `\u001b`), `,"name_event":"birthday"`)
			if d := cmp.Diff(want, v.Sender); d != "" || v.RecipientID != recipient {
				t.Errorf("%q: %s", v.RecipientID, d)
			}
			lines := []string{
				"accepted: accepted", `name_event_unknown: name_event "birthday" belongs to no flow`,
				"scheduled: scheduled for 2099-01-01T00:00:00Z",
			}
			if stoodIn {
				lines = []string{
					lines[0], `default_sender: default sender main sends; "booking\x1b 1" is none of the senders`, lines[1], lines[2],
				}
			}
			if d := cmp.Diff(lines, events(t, v)); d != "" {
				t.Error(d)
			}
		}
		// A sender that gets that name later changes nothing, and a removed sender is omitted.
		v := ask("later", "")
		if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			x := *r.sender
			x.ID, x.Number, x.Default = "later", "15555550199", false
			return settings.PutSender(ctx, tx, &x, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
		again := r.view(v.ID)
		if d := cmp.Diff(want, again.Sender); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(events(t, v), events(t, again)); d != "" || len(events(t, v)) != 3 {
			t.Error(d, events(t, v))
		}
	})
}

func TestTheListSaysTheSenderAndHasNoTimeline(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	t.Cleanup(func() { _ = r.store.Close() })
	r.accept(body("", "34600111001"))
	views, _, err := notify.Sent{Store: r.store}.Views(t.Context(), r.company.ID, messages.Filter{Limit: 10})
	if err != nil || len(views) != 1 || views[0].Sender == nil || views[0].Sender.ID != "main" || views[0].Timeline != nil {
		t.Errorf("%+v, %v", views[0], err)
	}
}

func TestTheTimelineShowsMovesCancelsAndTheEnd(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		stop := r.start()
		defer stop()
		const later = `,"datetime_sending":"2099-01-01T00:00:00"`
		moved := r.accept(body(later, "34600111001"))
		to, err := schedule.Parse("2098-01-01T00:00:00", "UTC")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.notify.Move(t.Context(), r.company.ID, moved, to); err != nil {
			t.Fatal(err)
		}
		lines := []string{"accepted: accepted", "moved: moved to 2098-01-01T00:00:00Z"}
		if d := cmp.Diff(lines, events(t, r.view(moved))); d != "" {
			t.Error(d)
		}
		if _, err := r.notify.Cancel(t.Context(), r.company.ID, moved, false); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(append(lines, "canceled: canceled"), events(t, r.view(moved))); d != "" {
			t.Error(d)
		}
		sent := r.accept(body("", "34600111001", "34600111002"))
		await(t, "the notification is complete", func() bool {
			return r.view(sent).State == carillon.StateCompleted && len(r.view(sent).Timeline) == 3
		})
		if d := cmp.Diff([]string{"accepted: accepted", "sent: first message sent", "completed: completed"},
			events(t, r.view(sent))); d != "" {
			t.Error(d)
		}
	})
}

func TestTheTimelineShowsACancelOfSomeRecipients(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
		if m.Number == "34600111002" {
			return provider.Outcome{Verdict: provider.RetryLater, RetryAfter: time.Hour}
		}
		return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
	}
	stop := r.start()
	defer stop()
	id := r.accept(body("", "34600111001", "34600111002"))
	await(t, "one is sent, one waits", func() bool {
		v := r.view(id)
		return v.Recipients[0].State == carillon.StateSent && v.Recipients[1].State == carillon.StateQueued && v.Recipients[1].Attempts == 1
	})
	if _, err := r.notify.Cancel(t.Context(), r.company.ID, id, false); err != nil {
		t.Fatal(err)
	}
	want := []string{"accepted: accepted", "sent: first message sent", "canceled: canceled for 1 of 2 recipients", "completed: completed"}
	if d := cmp.Diff(want, events(t, r.view(id))); d != "" {
		t.Error(d)
	}
}
