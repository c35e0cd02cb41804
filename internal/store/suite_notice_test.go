package store_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
)

func noticesClaimed(t *testing.T, r *rig) {
	id := r.opened(t, ours, "v").Conversation.ID
	r.state(t, id, chats.Queued, "")
	began := r.now
	due, err := r.Chats.Noticed(t.Context(), began, 10)
	if err != nil || len(due) != 1 || due[0].ID != id || !due[0].NoticeAt.Equal(began) {
		t.Fatal(due, err)
	}
	if early, err := r.Chats.Noticed(t.Context(), began.Add(-time.Millisecond), 10); err != nil || len(early) != 0 {
		t.Error(early, err)
	}
	next := began.Add(10 * time.Minute)
	for _, want := range []bool{true, false} { // two nodes
		if ok, err := r.Chats.Notice(t.Context(), due[0], next); err != nil || ok != want {
			t.Error(ok, err)
		}
	}
	again, err := r.Chats.Noticed(t.Context(), next, 10)
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	r.state(t, id, chats.Active, "ana")
	if ok, err := r.Chats.Notice(t.Context(), again[0], time.Time{}); ok || err != nil {
		t.Error("nobody waits, but a notice was claimed:", err)
	}
}

func mailsClaimed(t *testing.T, r *rig) {
	with := r.opened(t, ours, "with", func(o *chats.Open) { o.Contact.Email = "v@a.test" })
	without := r.opened(t, ours, "without")
	answer := func(id string, note bool) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		if err := r.Chats.Do(t.Context(), &chats.Change{
			CompanyID: ours, ConversationID: id, Mail: true, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
				return []chats.Turn{{Author: chats.Teammate, Kind: chats.KindText, Text: "Yes", Note: note, At: r.now}}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	x := chats.MailDue{CompanyID: ours, ConversationID: with.Conversation.ID}
	answer(without.Conversation.ID, false)
	answer(x.ConversationID, false)
	first := r.now.Add(chats.MailPause)
	answer(x.ConversationID, true)
	answer(x.ConversationID, false)
	due := func(at time.Time) []chats.MailDue {
		t.Helper()
		all, err := r.Mails.Due(t.Context(), at, 10)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := due(first.Add(-time.Millisecond)); len(all) != 0 {
		t.Error("too early:", all)
	}
	if diff := cmp.Diff([]chats.MailDue{x}, due(first)); diff != "" {
		t.Error(diff)
	}
	until := first.Add(time.Minute)
	claim := func(at time.Time) (seqs []int64, all []chats.MailReply) {
		t.Helper()
		all, err := r.Mails.Claim(t.Context(), x, at, at.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			seqs = append(seqs, m.Seq)
		}
		return seqs, all
	}
	seqs, batch := claim(first)
	if diff := cmp.Diff([]int64{1, 3}, seqs); diff != "" || batch[0].Batch != 3 || batch[0].Attempt != 1 {
		t.Error(diff, batch)
	}
	if seqs, _ := claim(first); len(seqs) != 0 {
		t.Error("two nodes have it:", seqs)
	}
	answer(x.ConversationID, false)
	// The node dies. Another sends the same e-mail again, without the later reply.
	seqs, again := claim(until)
	if diff := cmp.Diff([]int64{1, 3}, seqs); diff != "" || again[0].Batch != 3 || again[0].Attempt != 2 {
		t.Error(diff, again)
	}
	for _, of := range [][]chats.MailReply{again, batch} { // the first node's outcome is too late
		state, reason := "sent", ""
		if of[0].Attempt == 1 {
			state, reason = "failed", "late"
		}
		if err := r.Mails.Finish(t.Context(), x, of, state, reason, until, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Mails.Postpone(t.Context(), x, until, until.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all := due(until.Add(time.Minute)); len(all) != 0 {
		t.Error("delayed, but due:", all)
	}
	if err := r.Mails.Seen(t.Context(), x, 4, until); err != nil {
		t.Fatal(err)
	}
	if all := due(until.Add(time.Hour)); len(all) != 0 {
		t.Error("seen, but due:", all)
	}
	found, err := r.Mails.Of(t.Context(), ours, x.ConversationID, 1, 100)
	var states []string
	for _, m := range found {
		states = append(states, strconv.FormatInt(m.Seq, 10)+" "+m.State)
	}
	if diff := cmp.Diff([]string{"1 sent", "3 sent", "4 seen"}, states); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if found, err := r.Mails.Of(t.Context(), theirs, x.ConversationID, 1, 100); err != nil || len(found) != 0 {
		t.Error("another company finds", found, err)
	}
	if seqs, err := r.Mails.Claim(t.Context(), chats.MailDue{CompanyID: theirs, ConversationID: x.ConversationID}, until.Add(24*time.Hour),
		until.Add(25*time.Hour)); err != nil || len(seqs) != 0 {
		t.Error("another company claims", seqs, err)
	}
}

func browsersSubscribed(t *testing.T, r *rig) {
	ana, ben := &accounts.Account{Email: "ana@push.test", Name: "Ana"}, &accounts.Account{Email: "ben@push.test", Name: "Ben"}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutAccount(ctx, tx, ana, r.now), accounts.PutAccount(ctx, tx, ben, r.now))
	})
	session := func(a *accounts.Account) string {
		t.Helper()
		id := carillon.NewID(r.now)
		ok, err := r.Sessions.StartBrowser(t.Context(), accounts.Browser{Session: accounts.Session{
			ID: id, AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(time.Hour),
		}}, id, a.PasswordHash, a.PasswordHash)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return id
	}
	subscribe := func(a *accounts.Account, session, endpoint string) (string, error) {
		x := &accounts.Subscription{
			CompanyID: ours, AccountID: a.ID, SessionID: session, Endpoint: endpoint, P256DH: "p", Auth: "a", Agent: "Firefox",
			Language: "es", CreatedAt: r.now,
		}
		err := r.Notices.Subscribe(t.Context(), x)
		return x.ID, err
	}
	of := func(company string, a *accounts.Account) (endpoints []string) {
		t.Helper()
		all, err := r.Notices.Subscriptions(t.Context(), company, a.ID, r.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			endpoints = append(endpoints, x.Endpoint)
		}
		return endpoints
	}
	hers, his := session(ana), session(ben)
	if _, err := subscribe(ana, hers, "https://push.test/1"); err != nil {
		t.Fatal(err)
	}
	second, err := subscribe(ana, hers, "https://push.test/2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := subscribe(ben, his, "https://push.test/1"); err != nil { // the same browser
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://push.test/2"}, of(ours, ana)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"https://push.test/1"}, of(ours, ben)); diff != "" {
		t.Error(diff)
	}
	if got := of(theirs, ana); len(got) != 0 {
		t.Error("in another company:", got)
	}
	if got, err := r.Notices.Browsers(t.Context(), ours, r.now); err != nil || len(got) != 0 {
		t.Error("of accounts that are no members:", got, err)
	}
	var sealed string
	if err := r.DB.Row(t.Context(), []any{&sealed}, "SELECT sealed FROM push_subscription WHERE id = $1", second); err != nil ||
		len(sealed) < 20 || cmp.Equal(sealed, "https://push.test/2") {
		t.Error(sealed, err)
	}
	for _, x := range []struct {
		company, account string
		want             bool
	}{{theirs, ana.ID, false}, {ours, ben.ID, false}, {ours, ana.ID, true}, {ours, ana.ID, false}} {
		if ok, err := r.Notices.Unsubscribe(t.Context(), x.company, x.account, second); ok != x.want || err != nil {
			t.Errorf("%+v: %t, %v", x, ok, err)
		}
	}
	for i := range accounts.MaxSubscriptions {
		if _, err := subscribe(ana, hers, "https://push.test/more/"+strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := subscribe(ana, hers, "https://push.test/over"); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error(err)
	}
	if err := r.Sessions.EndSession(t.Context(), hers, r.now); err != nil {
		t.Fatal(err)
	}
	if got := of(ours, ana); len(got) != 0 {
		t.Error("signed out:", got)
	}
	left := func(who string, a *accounts.Account, want int) {
		t.Helper()
		var n int
		err := r.DB.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM push_subscription WHERE account_id = $1", a.ID)
		if err != nil || n != want {
			t.Error(who, n, err)
		}
	}
	left("signed out:", ana, 0) // otherwise they would count against the limit
	left("another account:", ben, 1)
	hers = session(ana)
	if _, err := subscribe(ana, hers, "https://push.test/again"); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Sessions.EndOwnSession(t.Context(), ben.ID, hers, r.now); ok || err != nil {
		t.Error("another account's:", ok, err)
	}
	left("another account's:", ana, 1)
	if ok, err := r.Sessions.EndOwnSession(t.Context(), ana.ID, hers, r.now); !ok || err != nil {
		t.Error(ok, err)
	}
	left("one session:", ana, 0)
	hers = session(ana)
	other := session(ana)
	for _, x := range []string{hers, other} {
		if _, err := subscribe(ana, x, "https://push.test/"+x); err != nil {
			t.Fatal(err)
		}
	}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.EndSessions(ctx, tx, ana.ID, other, r.now)
	})
	left("all but one:", ana, 1)

	want := accounts.NoticeChoice{Push: false, Mail: true, QuietFrom: 1320, QuietTo: 420, Zone: "Europe/Madrid", Language: "es"}
	if c, err := r.Notices.Choice(t.Context(), ours, ana.ID); err != nil || c != accounts.NewNoticeChoice() {
		t.Error(c, err)
	}
	for range 2 {
		if err := r.Notices.SetChoice(t.Context(), ours, ana.ID, want); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := r.Notices.Choice(t.Context(), ours, ana.ID); err != nil || c != want {
		t.Error(c, err)
	}
	made := 0
	create := func() (string, string, error) {
		made++
		return "private" + strconv.Itoa(made), "public" + strconv.Itoa(made), nil
	}
	for range 2 {
		private, public, err := r.Notices.PushKey(t.Context(), r.now, create)
		if err != nil || private != "private1" || public != "public1" {
			t.Error(private, public, err)
		}
	}
}
