package store_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

// sentences are the conformance suite: the guarantees that callers of the store rely on, the same on every engine.
// Each has a fresh, empty store.
func sentences() []sentence {
	return slices.Concat(
		accepting(), delivering(), receiving(), calling(), queueing(), events(), sharding(), recovery(), changing(), listing(),
		configuring(), templating(), signingIn(), purging(), restoring(), breaking(), reporting(), keepingResources(),
		talking(), searching(), questioning(), answering(), keepingFiles(), givingAddresses(), runningFlows(), exchanging(), counting(),
		charting(), recipients(), sendingFiles(), recording(), deliveringEvents(), keepingBounds(), identifying(), wanting(),
		importing(), siteSentences(), vectorSentences(), widgetSentences(), erasing(), testingAgents(), reviewing(), fallingBack(),
		recordings(), sealingByCompany(),
	)
}

// sentence is one promise of the store.
type sentence struct {
	name string
	run  func(t *testing.T, r *rig)
}

// rig is a store with two companies, `ours` with two senders and `theirs` with one, and a clock that the test moves.
type rig struct {
	*store.Store
	sender, second, foreign *carillon.Sender
	now                     time.Time
}

const (
	ours   = "ours"
	theirs = "theirs"
)

func newRig(t *testing.T, s *store.Store) *rig {
	t.Helper()
	r := &rig{Store: s, now: time.UnixMilli(1_800_000_000_000).UTC()}
	make1 := func(company, id, number string) *carillon.Sender {
		return &carillon.Sender{
			CompanyID: company, ID: id, Number: number, Channel: carillon.Messaging, Provider: "sandbox",
			MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
		}
	}
	r.sender, r.second, r.foreign = make1(ours, "main", "15555550100"), make1(ours, "side", "15555550101"),
		make1(theirs, "main", "15555550100")
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(
			accounts.PutCompany(ctx, tx, &carillon.Company{ID: ours, Name: "Ours"}, r.now),
			accounts.PutCompany(ctx, tx, &carillon.Company{ID: theirs, Name: "Theirs"}, r.now))
	})
	for apart := false; !apart; { // the tests own the shards of one sender or two
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			var all []error
			for _, x := range []*carillon.Sender{r.sender, r.second, r.foreign} {
				_, syncErr := tx.Exec(ctx, "DELETE FROM template_sync WHERE sender = $1", x.UID)
				_, senderErr := tx.Exec(ctx, "DELETE FROM sender WHERE uid = $1", x.UID)
				all = append(all, syncErr, senderErr, settings.PutSender(ctx, tx, x, r.now))
			}
			return errors.Join(all...)
		})
		apart = r.sender.Shard() != r.second.Shard() && r.sender.Shard() != r.foreign.Shard() && r.second.Shard() != r.foreign.Shard()
	}
	return r
}

func (r *rig) configure(t *testing.T, fn func(ctx context.Context, tx *configure.Tx) error) {
	t.Helper()
	if err := r.Config.Change(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// request is a notification of our main sender to the numbers, due now. Each is a millisecond younger than the one
// before, so that their ids rise.
func (r *rig) request(numbers ...string) *messages.Accept {
	r.now = r.now.Add(time.Millisecond)
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(r.now), CompanyID: ours, Channel: carillon.Messaging, SenderUID: r.sender.UID, TemplateID: "1",
			Class: carillon.Utility, Campaign: "spring", Body: `{"a":1}`, Total: len(numbers), Open: len(numbers),
			CreatedAt: r.now, DueAt: r.now,
		},
		Quota: messages.Quota{Day: r.now.Format(time.DateOnly), Charge: len(numbers)},
	}
	for _, n := range numbers {
		a.Messages = append(a.Messages, messages.NewMessage{Number: n})
	}
	return a
}

// accepted is a stored notification of so many messages.
func (r *rig) accepted(t *testing.T, total int, change ...func(a *messages.Accept)) *messages.Accept {
	t.Helper()
	var numbers []string
	for i := range total {
		numbers = append(numbers, strconv.Itoa(34600000000+i))
	}
	a := r.request(numbers...)
	for _, c := range change {
		c(a)
	}
	if err := r.Notifications.Accept(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (r *rig) message(t *testing.T, a *messages.Accept, n int) messages.Message {
	t.Helper()
	all, err := r.Messages.List(t.Context(), a.Notification.Seq(), n, 1)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

// there reports whether a notification is stored.
func (r *rig) there(t *testing.T, a *messages.Accept) bool {
	t.Helper()
	_, err := r.Notifications.Load(t.Context(), a.Notification.Seq())
	if err != nil && !carillon.IsCode(err, carillon.NotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func (r *rig) used(t *testing.T, a *messages.Accept) int {
	t.Helper()
	n, err := r.Notifications.Used(t.Context(), a.Notification.CompanyID, a.Quota.Day)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fence makes a node the owner of the shard of our main sender.
func (r *rig) fence(t *testing.T) work.Fence {
	t.Helper()
	if err := r.Nodes.Join(t.Context(), "node", "host"); err != nil {
		t.Fatal(err)
	}
	f := work.Fence{Shard: r.sender.Shard(), Owner: "node"}
	f.Epoch = r.take(t, f.Shard, f.Owner)
	return f
}

// start begins the delivery of a message; the attempt is 0 where it must not begin.
func (r *rig) start(t *testing.T, f work.Fence, a *messages.Accept, n int) int {
	t.Helper()
	st := &work.Start{Key: work.Key(a.Notification.Seq().Message(n)), Shard: f.Shard}
	r.deliver(t, &work.Batch{Fences: []work.Fence{f}, Starts: []*work.Start{st}, Now: r.now})
	return st.Attempt
}

func (r *rig) deliver(t *testing.T, d *work.Batch) {
	t.Helper()
	if err := r.Messages.Commit(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// result writes the result of an attempt.
func (r *rig) result(t *testing.T, results ...work.Result) {
	t.Helper()
	r.deliver(t, &work.Batch{Results: results, Now: r.now})
}

// eventually waits for an asynchronous effect.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal("it did not come about within a minute")
		}
	}
}
