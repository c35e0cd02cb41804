package inbox_test

import (
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
)

// Times until a reply and a resolution come by the caller's bins and by the teammate who replied first.
func TestResponseTimesComeByBinAndTeammate(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	owner, mate := w.As("owner@acme.test"), w.ID("teammate@acme.test")
	noon := time.Now().UTC().Truncate(time.Hour).Add(-12 * time.Hour)

	// handoff has a visitor wait since an instant, for a reply and a resolution after it; zero for never.
	handoff := func(at time.Time, by string, reply, resolve time.Duration) {
		t.Helper()
		o := &chats.Open{
			Contact: chats.Contact{
				ID: carillon.NewID(at), CompanyID: acme.ID, WidgetID: "w", VisitorID: carillon.NewID(at), Language: "en",
			},
			Conversation: chats.Conversation{
				ID: carillon.NewID(at), Channel: "web_chat", WidgetID: "w", AgentID: "a", State: chats.Automated, Language: "en",
			},
			Keep: time.Hour, Now: at,
		}
		if err := w.Store.Chats.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		change := func(edit func(c *chats.Conversation) []chats.Turn) {
			t.Helper()
			c := &chats.Change{
				CompanyID: acme.ID, ConversationID: o.Conversation.ID,
				Edit: func(c *chats.Conversation) ([]chats.Turn, error) { return edit(c), nil },
			}
			if err := w.Store.Chats.Do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		change(func(c *chats.Conversation) []chats.Turn {
			c.SetState(chats.Queued, at)
			return []chats.Turn{{Author: chats.Visitor, Kind: chats.KindText, Text: "A person, please.", At: at}}
		})
		if reply > 0 {
			change(func(c *chats.Conversation) []chats.Turn {
				c.SetState(chats.Active, at.Add(reply))
				return []chats.Turn{{Author: chats.Teammate, AccountID: by, Kind: chats.KindText, Text: "Here.", At: at.Add(reply)}}
			})
		}
		if resolve > 0 {
			change(func(c *chats.Conversation) []chats.Turn {
				c.SetState(chats.Resolved, at.Add(resolve))
				return nil
			})
		}
	}
	for i := range 10 { // replied to after 1 to 10 minutes, resolved after 10 to 100
		handoff(noon, mate, time.Duration(i+1)*time.Minute, time.Duration(10*(i+1))*time.Minute)
	}
	handoff(noon.Add(2*time.Hour), "gone", time.Hour, 0)
	handoff(noon.Add(2*time.Hour), "", 0, 0)

	query := "/panel/v1/conversations/times?bounds=" +
		fmt.Sprintf("%d,%d,%d", noon.Unix(), noon.Add(time.Hour).Unix(), noon.Add(4*time.Hour).Unix())
	got := w.Want("GET", query, owner, "", 200, "", "")
	minutes := func(x any, names ...string) (all []any) {
		for _, name := range names {
			n := x.(map[string]any)[name].(float64)
			if len(name) > 3 && name[len(name)-3:] == "_ms" {
				n /= 60_000
			}
			all = append(all, n)
		}
		return all
	}
	names := []string{"handoffs", "replied", "resolved", "reply_p50_ms", "reply_p90_ms", "resolve_p50_ms", "resolve_p90_ms"}
	bins, mates := got["bins"].([]any), got["teammates"].([]any)
	if len(bins) != 2 || len(mates) != 2 {
		t.Fatal(got)
	}
	for name, x := range map[string]struct {
		got  any
		want string
	}{
		"the first bin":  {bins[0], "[10 10 10 5 9 50 90]"},
		"the second bin": {bins[1], "[2 1 0 60 60 0 0]"},
		"the total":      {got["total"], "[12 11 10 6 10 50 90]"},
		"the teammate":   {mates[0], "[10 10 10 5 9 50 90]"},
	} {
		if found := fmt.Sprint(minutes(x.got, names...)); found != x.want {
			t.Errorf("%s: %s, want %s", name, found, x.want)
		}
	}
	if mates[0].(map[string]any)["name"] == "" || mates[1].(map[string]any)["name"] != "" {
		t.Error("names of teammates:", mates)
	}
	stranger := w.Want("GET", query, w.As("owner@other.test"), "", 200, "", "")
	if stranger["total"].(map[string]any)["handoffs"] != float64(0) {
		t.Error("another company has", stranger)
	}
	for _, bounds := range []string{"", "1", "2,1", "1,1", "a,b", "-1,5", "0,34560000000"} {
		w.Want("GET", "/panel/v1/conversations/times?bounds="+bounds, owner, "", 400, "validation_failed", "bounds")
	}
}
