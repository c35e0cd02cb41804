package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	eventtable "carillon/internal/store/events"
)

func reviewing() []sentence {
	return []sentence{
		{"a review is due after the end or the silence of a conversation, and is claimed once", reviewsDue},
		{"a review replaces the one before, also in the counts, and is the company's alone", reviewsCounted},
		{"a review is deleted with its conversation, and its counts with the hour", reviewsDropped},
		{"the event of a review names its call", reviewsOfCalls},
	}
}

// writes appends a turn of the contact.
func (r *rig) writes(t *testing.T, company, id string) *chats.Conversation {
	t.Helper()
	return r.edits(t, company, id, nil, func(*chats.Conversation) []chats.Turn {
		return []chats.Turn{{Author: chats.Visitor, Kind: chats.KindText, Text: "Hello", At: r.now}}
	})
}

func (r *rig) edits(
	t *testing.T, company, id string, review *chats.Review, edit func(c *chats.Conversation) []chats.Turn,
) *chats.Conversation {
	t.Helper()
	r.now = r.now.Add(time.Millisecond)
	c := &chats.Change{
		CompanyID: company, ConversationID: id, Review: review,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) { return edit(c), nil },
	}
	if err := r.Chats.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.Conversation
}

// reviewable are the conversations whose review is due.
func (r *rig) reviewable(t *testing.T, without ...string) (ids []string) {
	t.Helper()
	all, err := r.Reviews.Due(t.Context(), r.now, 100, without)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

func reviewsDue(t *testing.T, r *rig) {
	id := r.opened(t, ours, "ana").Conversation.ID
	r.writes(t, ours, id)
	r.now = r.now.Add(chats.ReviewAfterSilence - time.Minute)
	if got := r.reviewable(t); len(got) > 0 {
		t.Errorf("%v are due", got)
	}
	r.edits(t, ours, id, nil, func(c *chats.Conversation) []chats.Turn {
		c.SetState(chats.Resolved, r.now)
		return nil
	})
	r.now = r.now.Add(chats.ReviewAfterEnd)
	if got := r.reviewable(t); !cmp.Equal(got, []string{id}) || len(r.reviewable(t, ours)) > 0 {
		t.Errorf("%v are due, %v without the company", got, r.reviewable(t, ours))
	}
	c, err := r.Chats.Find(t.Context(), ours, id)
	if err != nil {
		t.Fatal(err)
	}
	until := r.now.Add(time.Minute)
	for i, want := range []bool{true, false} {
		if ok, err := r.Reviews.Claim(t.Context(), c, until); ok != want || err != nil {
			t.Errorf("claim %d: %t, %v", i, ok, err)
		}
	}
	if got := r.reviewable(t); len(got) > 0 {
		t.Errorf("%v are due during the claim", got)
	}
	if err := r.Reviews.Postpone(t.Context(), c, r.now); err != nil { // of an earlier claim
		t.Fatal(err)
	}
	c.ReviewAt = until
	if got := r.reviewable(t); len(got) > 0 {
		t.Errorf("%v are due: a claim was taken away", got)
	}
	if err := r.Reviews.Postpone(t.Context(), c, time.Time{}); err != nil {
		t.Fatal(err)
	}
	r.now = until
	if got := r.reviewable(t); len(got) > 0 {
		t.Errorf("%v are due", got)
	}
	if c, err = r.Chats.Find(t.Context(), ours, id); err != nil || c.ReviewTries != 1 {
		t.Errorf("%d tries, %v", c.ReviewTries, err)
	}
}

// reviewed stores a review of a conversation whose review is due.
func (r *rig) reviewed(t *testing.T, company, id string, change func(x *chats.Review)) *chats.Review {
	t.Helper()
	c := r.writes(t, company, id)
	x := &chats.Review{
		ConversationID: id, CompanyID: company, AgentID: "a", Seq: c.LastSeq, EndedAt: c.LastAt, At: r.now, Maker: "rules", Goal: "no",
		Topics: []string{"Prices"}, Text: chats.ReviewText{Summary: "Short.", Goal: "It works", Reason: "Because.", Results: []chats.Value{
			{Name: "sunny", Type: "boolean", Text: "true"}, {Name: "name", Type: "text", Text: "Ana"},
		}},
	}
	change(x)
	r.edits(t, company, id, x, func(c *chats.Conversation) []chats.Turn {
		c.ReviewAt = time.Time{}
		return nil
	})
	return x
}

func (r *rig) reviewCounts(t *testing.T, company, agent string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	if err := r.Reviews.EachCount(t.Context(), company, agent, time.Time{}, r.now.Add(time.Hour), func(c *chats.ReviewCount) {
		if c.Reviews != 0 {
			all[c.Kind+"/"+c.Name+"/"+c.Value] += c.Reviews
		}
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func reviewsCounted(t *testing.T, r *rig) {
	one, two := r.opened(t, ours, "ana").Conversation.ID, r.opened(t, ours, "ben").Conversation.ID
	other := r.opened(t, theirs, "eva").Conversation.ID
	r.reviewed(t, ours, one, func(*chats.Review) {})
	r.reviewed(t, ours, two, func(*chats.Review) {})
	r.reviewed(t, theirs, other, func(*chats.Review) {})
	r.now = r.now.Add(3 * time.Hour)
	last := r.reviewed(t, ours, one, func(x *chats.Review) {
		x.Goal, x.Topics, x.Maker, x.Text.Failure = "yes", []string{"Prices", "Dogs"}, "openai", "none"
		x.Text.Results[0].Text = "false"
	})
	want := map[string]int64{
		"maker//rules": 1, "maker//openai": 1, "goal//no": 1, "goal//yes": 1, "topic//Prices": 2, "topic//Dogs": 1,
		"result/sunny/true": 1, "result/sunny/false": 1,
	}
	if diff := cmp.Diff(want, r.reviewCounts(t, ours, "a")); diff != "" {
		t.Error(diff)
	}
	if got := r.reviewCounts(t, ours, "b"); len(got) > 0 {
		t.Errorf("of another agent: %v", got)
	}
	all, err := r.Reviews.Of(t.Context(), ours, one, two, other)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if diff := cmp.Diff(last, all[one]); diff != "" {
		t.Error(diff)
	}
	for _, x := range []struct {
		goal, topic string
		want        []string
	}{
		{"yes", "", []string{one}},
		{"no", "", []string{two}},
		{"", "Prices", []string{one, two}},
		{"", "prICES", []string{one, two}},
		{"", "Price", nil},
		{"", "%", nil},
		{"no", "Dogs", nil},
	} {
		page, _, err := r.Chats.List(t.Context(), chats.Filter{CompanyID: ours, Folder: "all", Goal: x.goal, Topic: x.topic, Limit: 10})
		var got []string
		for i := range page {
			got = append(got, page[i].ID)
		}
		if diff := cmp.Diff(x.want, got); diff != "" || err != nil {
			t.Errorf("%q about %q: %s %v", x.goal, x.topic, diff, err)
		}
	}
}

func reviewsDropped(t *testing.T, r *rig) {
	id := r.opened(t, ours, "ana").Conversation.ID
	r.reviewed(t, ours, id, func(*chats.Review) {})
	if _, err := r.Purges.DropConversations(t.Context(), ours, r.now.Add(time.Hour), 10); err != nil {
		t.Fatal(err)
	}
	all, err := r.Reviews.Of(t.Context(), ours, id)
	if err != nil || len(all) != 0 || len(r.reviewCounts(t, ours, "")) == 0 {
		t.Errorf("%v, %v, counts %v", all, err, r.reviewCounts(t, ours, ""))
	}
	if _, err := r.Purges.DropStats(t.Context(), r.now.Add(time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	if got := r.reviewCounts(t, ours, ""); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func reviewsOfCalls(t *testing.T, r *rig) {
	f := r.fence(t)
	if err := r.Topics.Follow(t.Context(), ours, eventtable.Conversations); err != nil {
		t.Fatal(err)
	}
	talk := func(visitor string) string {
		return r.opened(t, ours, visitor, func(o *chats.Open) {
			o.Contact.Number, o.Conversation.Channel = "34600111222", "phone"
		}).Conversation.ID
	}
	last := func() string {
		all, err := r.Events.EventsAfter(t.Context(), ours, eventtable.Conversations, 0, 100)
		if err != nil || len(all) == 0 || all[len(all)-1].Kind != "conversation.reviewed" {
			t.Fatal(all, err)
		}
		return string(all[len(all)-1].Payload)
	}
	id := talk("ana")
	r.reviewed(t, ours, id, func(*chats.Review) {})
	if got := last(); strings.Contains(got, "call_id") || !strings.Contains(got, `"review":{"summary":"Short.",`) {
		t.Error(got)
	}
	c, _ := r.rings(t, 0)
	if err := r.Incoming.Answered(t.Context(), c.ID, id, r.now); err != nil {
		t.Fatal(err)
	}
	r.reviewed(t, ours, id, func(*chats.Review) {})
	if got := last(); !strings.Contains(got, `"call_id":"`+c.ID+`"`) {
		t.Error(got)
	}
	n, k := r.called(t)
	placed, err := r.Calls.Find(t.Context(), carillon.MessageKey(k))
	if err != nil || placed == nil {
		t.Fatal(placed, err)
	}
	id = r.opened(t, ours, "ben", func(o *chats.Open) {
		o.Contact.Number, o.Conversation.Channel = placed.Number, "phone"
	}).Conversation.ID
	r.dial(t, f, 0, k)
	if err := r.Calls.SetTalk(t.Context(), carillon.MessageKey(k), 1, calls.Talk{ConversationID: id}); err != nil {
		t.Fatal(err)
	}
	r.reviewed(t, ours, id, func(*chats.Review) {})
	if got := last(); !strings.Contains(got, `"call_id":"`+n.Notification.ID+`"`) {
		t.Error(got)
	}
}
