package whatsapp

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func TestSendWritesTheGoldenBodyAndTheChannelTakesIt(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	for _, k := range kinds() {
		t.Run(k.golden, func(t *testing.T) {
			m := k.message(7)
			m.Ref.NotificationID = notificationID
			out := c.Send(t.Context(), sender, m)
			posts := s.Posts(m.Ref.String())
			if len(posts) == 0 {
				t.Fatalf("nothing was posted: %+v", out)
			}
			p := posts[len(posts)-1]
			if diff := cmp.Diff(provider.Outcome{Verdict: provider.Sent, ProviderID: p.ID, Number: m.Number}, out); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(golden(t, "messages/"+k.golden), string(p.Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The fake must be as strict as the channel: each of these bodies differs from a valid one in one detail.
func TestStandInRefusesWhatTheChannelWould(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	a, err := c.account(sender)
	if err != nil {
		t.Fatal(err)
	}
	whole := golden(t, "messages/positional_text_header_buttons")
	for _, tc := range []struct {
		name, from, to string
		code           string
	}{
		{"unknown member", `"type":"template",`, `"type":"template","kind":1,`, "100"},
		{"number as JSON number", `"to":"34600111222"`, `"to":34600111222`, "100"},
		{"index as JSON number", `"index":"0"`, `"index":0`, "100"},
		{"index of no button", `"index":"1"`, `"index":"2"`, "100"},
		{"product missing", `"messaging_product":"whatsapp",`, ``, "100"},
		{"number with letters", `"to":"34600111222"`, `"to":"34600x11222"`, "131009"},
		{"another language", `"es_ES"`, `"es_MX"`, "132001"},
		{"a value too many", `{"type":"text","text":"Ana"},`, `{"type":"text","text":"Ana"},{"type":"text","text":"x"},`, "132000"},
		{"a value too few", `{"type":"text","text":"Ana"},`, ``, "132000"},
		{"no header", `{"type":"header","parameters":[{"type":"text","text":"A-1"}]},`, ``, "132000"},
		{"a payload for a URL", `"sub_type":"url"`, `"sub_type":"quick_reply"`, "132012"},
		{"a line end in a value", `"text":"Ana"`, `"text":"A\nna"`, "132018"},
		{"a name in a positional template", `"type":"text","text":"Ana"`, `"type":"text","parameter_name":"a","text":"Ana"`, "132012"},
		{"trailing bytes", `]}}`, `]}} {}`, "100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.Replace(whole, tc.from, tc.to, 1)
			if body == whole {
				t.Fatal("the change changes nothing")
			}
			got, err := c.exchange(t.Context(), a, http.MethodPost, a.messages, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			out := judge(got, 1)
			code, _, _ := strings.Cut(strings.ReplaceAll(out.Detail, "/", " "), " ")
			if out.Verdict == provider.Sent || code != tc.code {
				t.Errorf("answered %+v, want code %s", out, tc.code)
			}
		})
	}
	if n := s.Total(); n == 0 {
		t.Error("the posts were not recorded")
	}
}

func TestHundredRecipientsOfAllKindsAreSentAndTheirStatusesRead(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	all := kinds()
	var statuses []graphtest.Status
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 100 {
		m := all[n%len(all)].message(n)
		m.Number = strconv.Itoa(34600000000 + n)
		if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Sent {
			t.Fatalf("recipient %d: %+v", n, out)
		}
		posts := s.Posts(m.Ref.String())
		if len(posts) != 1 {
			t.Fatalf("recipient %d was posted %d times", n, len(posts))
		}
		p := posts[0]
		for i, state := range []string{"sent", "delivered", "read"} {
			statuses = append(statuses, graphtest.StatusOf(p, state, at.Add(time.Duration(i)*time.Minute)))
		}
	}
	statuses = append(statuses, statuses...)
	rand.Shuffle(len(statuses), func(i, j int) { statuses[i], statuses[j] = statuses[j], statuses[i] })

	reported := make(map[int]map[carillon.State]int)
	for len(statuses) > 0 {
		part := statuses[:min(37, len(statuses))]
		statuses = statuses[len(part):]
		body := s.StatusBody(part...)
		if !Verify(sender.Settings, s.Sign(body), body) {
			t.Fatal("the signature does not verify")
		}
		cb, err := ParseCallback(body, sender.UID)
		if err != nil || cb.Ignored != 0 || len(cb.Receipts) != len(part) {
			t.Fatalf("%d receipts of %d, %d ignored, %v", len(cb.Receipts), len(part), cb.Ignored, err)
		}
		for _, r := range cb.Receipts {
			if r.Ref.NotificationID != notificationID || r.Ref.Attempt != 1 || r.SenderUID != 7 || r.ProviderID == "" {
				t.Fatalf("receipt %+v", r)
			}
			if reported[r.Ref.N] == nil {
				reported[r.Ref.N] = make(map[carillon.State]int)
			}
			reported[r.Ref.N][r.State]++
		}
	}
	want := map[carillon.State]int{carillon.StateSent: 2, carillon.StateDelivered: 2, carillon.StateRead: 2}
	for n := range 100 {
		if diff := cmp.Diff(want, reported[n]); diff != "" {
			t.Fatalf("recipient %d: %s", n, diff)
		}
	}
}

func TestSendRefusesBeforePostingWhatCannotBeTaken(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	of := func(golden string) *provider.Outgoing {
		for _, k := range kinds() {
			if k.golden == golden {
				return k.message(0)
			}
		}
		t.Fatalf("no kind %s", golden)
		return nil
	}
	for _, tc := range []struct {
		name, kind, media string
	}{
		{"GIF", "image_header", "https://x.org/a.GIF?b=c.png"},
		{"AVI", "video_header", "https://x.org/a.avi"},
		{"MOV", "video_header", "https://x.org/a.mov"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := of(tc.kind)
			m.Content.MediaURL = tc.media
			out := c.Send(t.Context(), sender, m)
			if out.Verdict != provider.Refused || out.Reason != carillon.ReasonMediaRejected || out.Detail == "" {
				t.Errorf("outcome %+v, want refused", out)
			}
		})
	}
	if n := s.Total(); n != 0 {
		t.Errorf("%d messages were posted", n)
	}
}

func TestSendPausesTheSenderWhoseSettingsCannotBeUsed(t *testing.T) {
	k := kinds()[0]
	sender := &carillon.Sender{UID: 9, Settings: json.RawMessage(`{"access_token":"very-secret"}`)}
	out := client(t, Options{}).Send(t.Context(), sender, k.message(0))
	if out.Verdict != provider.PauseSender || strings.Contains(out.Detail, "very-secret") {
		t.Errorf("outcome %+v", out)
	}
}

func TestSendUsesSettingsThatChanged(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	k := kinds()[0]
	good := sender.Settings
	wrong := json.RawMessage(strings.Replace(string(good), "provider-token", "other-token", 1))
	for i, tc := range []struct {
		settings json.RawMessage
		want     provider.Verdict
	}{{good, provider.Sent}, {wrong, provider.PauseSender}, {good, provider.Sent}} {
		if out := c.Send(t.Context(), &carillon.Sender{UID: 7, Settings: tc.settings}, k.message(i)); out.Verdict != tc.want {
			t.Errorf("send %d: %+v, want %v", i, out, tc.want)
		}
	}
	if n := s.Total(); n != 2 {
		t.Errorf("%d messages were let in, want 2", n)
	}
}

func TestSendOfACanceledContextLeavesNothing(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("lease lost"))
	out := client(t, Options{}).Send(ctx, sender, kinds0())
	if out.Verdict != provider.RetryLater || out.MaxTries != 0 || s.Total() != 0 {
		t.Errorf("outcome %+v after %d posts", out, s.Total())
	}
}

func kinds0() *provider.Outgoing {
	k := kinds()[0]
	return k.message(0)
}
