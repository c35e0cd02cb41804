package purge_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"
	"carillon/internal/store/rank"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// engines runs a test on both engines.
func engines(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, store.Options{Dir: storetest.Folder(t)}) })
	t.Run("postgres", func(t *testing.T) { test(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)}) })
}

const (
	brief   = "brief"   // retention of one day
	forever = "forever" // deletes nothing
)

// world is a store with two companies, each with a sender, and the expected state of their notifications.
type world struct {
	*store.Store
	senders map[string]*carillon.Sender
	epochs  map[string]work.Fence
	base    time.Time
	created atomic.Int64 // milliseconds past base

	mu  sync.Mutex
	all []*known
}

// known is the expected state of a notification.
type known struct {
	*messages.Accept
	kept bool
}

func newWorld(t *testing.T, o store.Options) *world {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{
		Store: s, senders: map[string]*carillon.Sender{}, epochs: map[string]work.Fence{}, base: time.UnixMilli(1_800_000_000_000).UTC(),
	}
	err = s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		var errs []error
		for company, days := range map[string]int{brief: 1, forever: 0} {
			sender := &carillon.Sender{
				CompanyID: company, ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "sandbox",
				MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
			}
			w.senders[company] = sender
			errs = append(errs, accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: company, RetentionDays: days},
				w.base), settings.PutSender(ctx, tx, sender, w.base))
		}
		return errors.Join(errs...)
	})
	if err == nil {
		err = s.Nodes.Join(t.Context(), "node", "host")
	}
	if err == nil {
		err = s.Nodes.TakeAll(t.Context(), "node")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, shards, err := s.Nodes.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for company, sender := range w.senders {
		w.epochs[company] = work.Fence{Shard: sender.Shard(), Owner: "node", Epoch: shards[sender.Shard()].Epoch}
	}
	return w
}

// accept stores a notification of up to four messages.
func (w *world) accept(ctx context.Context, company string, messages int) (*messages.Accept, error) {
	a := w.of(company, messages)
	return a, w.Notifications.Accept(ctx, a)
}

// of is a notification on its way into the store.
func (w *world) of(company string, total int) *messages.Accept {
	now := w.base.Add(time.Duration(w.created.Add(1)) * time.Millisecond)
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(now), CompanyID: company, Channel: carillon.Messaging, SenderUID: w.senders[company].UID, TemplateID: "1",
			Class: carillon.Utility, Campaign: "c", Body: "{}", Total: total, Open: total, CreatedAt: now, DueAt: now,
		},
		Quota: messages.Quota{Day: "2027-01-15", Charge: total},
	}
	for i := range total {
		a.Messages = append(a.Messages, messages.NewMessage{Number: strconv.Itoa(34600000000 + i)})
	}
	return a
}

// live takes a notification through its life: it stays open, is delivered or canceled, two days ago or now.
func (w *world) live(ctx context.Context, r *rand.Rand) error {
	company := []string{brief, forever}[r.IntN(3)/2]
	a, err := w.accept(ctx, company, 1+r.IntN(4))
	if err != nil {
		return err
	}
	ended := w.base
	old := r.IntN(2) == 0
	if old {
		ended = ended.Add(-48 * time.Hour)
	}
	k := &known{a, true}
	switch r.IntN(4) {
	case 0: // stays open
	case 1:
		_, err = w.Notifications.Cancel(ctx, company, a.Notification.ID, false, ended)
		k.kept = !old || company == forever
	default:
		err = w.deliver(ctx, a, ended)
		k.kept = !old || company == forever
	}
	w.mu.Lock()
	w.all = append(w.all, k)
	w.mu.Unlock()
	return err
}

func (w *world) deliver(ctx context.Context, a *messages.Accept, ended time.Time) error {
	f := w.epochs[a.Notification.CompanyID]
	d := &work.Batch{Fences: []work.Fence{f}, Now: a.Notification.DueAt}
	for n := range a.Messages {
		d.Starts = append(d.Starts, &work.Start{Key: work.Key(a.Notification.Seq().Message(n)), Shard: f.Shard})
	}
	if err := w.Messages.Commit(ctx, d); err != nil {
		return err
	}
	r := &work.Batch{Now: d.Now}
	for n := range a.Messages {
		r.Results = append(r.Results, work.Result{
			Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, At: ended, Outcome: messages.Outcome{Rank: rank.Sent},
		})
	}
	if err := w.Messages.Commit(ctx, r); err != nil {
		return err
	}
	return w.Notifications.CloseDone(ctx, []carillon.Seq{a.Notification.Seq()}, ended)
}

// searchable fills the search table with all there is.
func (w *world) searchable(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = w.Search.Fill(ctx, w.base.Add(time.Hour)); err != nil {
			return err
		}
	}
	return nil
}

// check compares the store with the expected state.
func (w *world) check(t *testing.T) {
	t.Helper()
	kept, used := map[string]int{}, map[string]int{}
	for _, k := range w.all {
		id, company := k.Notification.ID, k.Notification.CompanyID
		used[company] += len(k.Messages)
		n, err := w.Notifications.Load(t.Context(), carillon.SeqOf(id))
		if k.kept != (err == nil) || err != nil && !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s of %s: %v, to be kept: %v", id, company, err, k.kept)
		}
		messages, err := w.Messages.List(t.Context(), carillon.SeqOf(id), 0, 10)
		want := 0
		if k.kept {
			want = len(k.Messages)
			kept[company]++
			if n != nil && n.Total != want {
				t.Errorf("%s: it has %d messages, want %d", id, n.Total, want)
			}
		}
		if err != nil || len(messages) != want {
			t.Errorf("%s has %d messages, want %d; %v", id, len(messages), want, err)
		}
	}
	for company, want := range kept {
		for name, f := range map[string]messages.Filter{
			"all": {}, "campaign": {Campaign: "c"}, "number": {Lines: identity.Numbers("34600000000")},
		} {
			f.Limit = len(w.all) + 1
			found, _, err := w.Notifications.List(t.Context(), company, f, w.base)
			if err != nil || len(found) != want {
				t.Errorf("%s by %s finds %d, want %d; %v", company, name, len(found), want, err)
			}
		}
		if n, err := w.Notifications.Used(t.Context(), company, "2027-01-15"); n != used[company] || err != nil {
			t.Errorf("%s is charged %d, want %d; %v", company, n, used[company], err)
		}
	}
}

func TestPurgeBesideAcceptingDeliveringAndCancelingTakesTheOldAloneAndAllOfIt(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		w := newWorld(t, o)
		p := purge.New(w.Purges, w.Accounts, purge.Options{})
		for phase := range 3 {
			var work sync.WaitGroup
			for i := range 8 {
				work.Go(func() {
					r := rand.New(rand.NewPCG(uint64(phase), uint64(i)))
					for range 15 {
						if err := w.live(t.Context(), r); err != nil {
							t.Error(err)
						}
					}
				})
			}
			for range 3 {
				work.Go(func() {
					if err := purge.New(w.Purges, w.Accounts, purge.Options{}).Round(t.Context(), w.base); err != nil {
						t.Error(err)
					}
				})
			}
			work.Wait()
			work.Go(func() {
				if err := w.searchable(t.Context()); err != nil {
					t.Error(err)
				}
			})
			work.Go(func() {
				if err := p.Round(t.Context(), w.base); err != nil {
					t.Error(err)
				}
			})
			work.Wait()
			if err := p.Round(t.Context(), w.base); err != nil {
				t.Fatal(err)
			}
			w.check(t)
		}
		gone := 0
		for _, k := range w.all {
			if !k.kept {
				gone++
			}
		}
		if gone < 50 || gone > len(w.all)-50 {
			t.Errorf("%d of %d were to go: the test shows little", gone, len(w.all))
		}
	})
}

func TestRoundTellsItsStepsAndItsBacklog(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	for range 200 {
		a, err := w.accept(t.Context(), brief, 1)
		if err == nil {
			_, err = w.Notifications.Cancel(t.Context(), brief, a.Notification.ID, false, w.base.Add(-72*time.Hour))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var backlog []time.Duration
	rows, steps := map[string]int{}, 0
	p := purge.New(w.Purges, w.Accounts, purge.Options{
		Step: func(what string, p purge.Purged) {
			rows[what] += p.Rows
			steps++
		},
		Backlog: func(age time.Duration) { backlog = append(backlog, age) },
	})
	round := func() {
		t.Helper()
		if err := p.Round(t.Context(), w.base.AddDate(2, 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	want := w.base.AddDate(2, 0, 0).Sub(w.base) + 48*time.Hour
	if round(); rows[purge.Notifications] != 0 || len(backlog) == 0 || backlog[len(backlog)-1] != want {
		t.Errorf("before search has come so far: rows %v, the backlog was told as %v, want %s last", rows, backlog, want)
	}
	if err := w.searchable(t.Context()); err != nil {
		t.Fatal(err)
	}
	backlog = nil
	if round(); rows[purge.Notifications] != 800 || rows[purge.Quotas] != 1 || steps < 5 {
		t.Errorf("%d steps, rows %v", steps, rows)
	}
	if len(backlog) < 2 || backlog[0] != want || backlog[len(backlog)-1] != 0 {
		t.Errorf("the backlog was told as %v, want %s first and 0 last", backlog, want)
	}
}

func TestCallsOfTheInterfaceAreKeptForAMonthAndNoLongerThanNotifications(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	ages := []time.Duration{time.Hour, 25 * time.Hour, 29 * 24 * time.Hour, 31 * 24 * time.Hour, 401 * 24 * time.Hour}
	var all []audit.APICall
	for _, company := range []string{brief, forever} {
		for _, age := range ages {
			at := w.base.Add(-age)
			all = append(all, audit.APICall{ID: carillon.NewID(at), CompanyID: company, At: at, Status: 400})
		}
	}
	if err := w.APICalls.Write(t.Context(), all, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := purge.New(w.Purges, w.Accounts, purge.Options{}).Round(t.Context(), w.base); err != nil {
		t.Fatal(err)
	}
	for company, want := range map[string]int{brief: 1, forever: 3} {
		left, err := w.APICalls.List(t.Context(), company, audit.APICallFilter{Limit: 10})
		if err != nil || len(left) != want {
			t.Errorf("%s has %d calls, want %d; %v", company, len(left), want, err)
		}
	}
}

func TestRoundEndsWithItsContext(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		w := newWorld(t, o)
		now := w.base.Add(time.Hour)
		for i := range 600 { // steps of several sizes
			a := w.of(brief, 1)
			a.Idempotency = &messages.Idempotency{
				Route: "notify", Key: strconv.Itoa(i), Hash: "h", Answer: "{}", ExpiresAt: w.base.Add(time.Minute),
			}
			if err := w.Notifications.Accept(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		steps := 0
		p := purge.New(w.Purges, w.Accounts, purge.Options{Step: func(string, purge.Purged) {
			steps++
			stop()
		}})
		if err := p.Round(ctx, now); !errors.Is(err, context.Canceled) || steps != 1 {
			t.Errorf("%d steps, though the first one ended the context; %v", steps, err)
		}
	})
}

func TestRoundDeletesQuietConversations(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		w := newWorld(t, o)
		now := w.base.Add(48 * time.Hour)
		ids := map[string]string{} // by company and age
		for _, company := range []string{brief, forever} {
			for name, at := range map[string]time.Time{"old": w.base, "new": now.Add(-time.Hour)} {
				o := &chats.Open{
					Contact:      chats.Contact{ID: carillon.NewID(at), CompanyID: company, WidgetID: "w", VisitorID: name},
					Conversation: chats.Conversation{ID: carillon.NewID(at), Channel: "web_chat", State: chats.Automated}, Now: at,
				}
				if err := w.Chats.Open(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				ids[company+" "+name] = o.Conversation.ID
				if err := w.Questions.Record(t.Context(), &chats.Question{
					ID: carillon.NewID(at), CompanyID: company, AgentID: "a", Words: name, Text: name, LastAt: at,
					ConversationID: o.Conversation.ID,
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows := map[string]int{}
		var log strings.Builder
		p := purge.New(w.Purges, w.Accounts, purge.Options{
			Step: func(what string, x purge.Purged) { rows[what] += x.Rows },
			Log:  slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err := p.Round(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for name, id := range ids {
			company, age, _ := strings.Cut(name, " ")
			_, err := w.Chats.Find(t.Context(), company, id)
			if gone := carillon.IsCode(err, carillon.NotFound); gone != (name == brief+" old") {
				t.Errorf("%s of %s: %v", age, company, err)
			}
		}
		for company, want := range map[string]int{brief: 1, forever: 2} {
			if left, _, err := w.Questions.List(t.Context(), chats.QuestionFilter{CompanyID: company, Limit: 10}); err != nil ||
				len(left) != want || left[0].Text != "new" {
				t.Errorf("%s has the questions %v, %v", company, left, err)
			}
		}
		if line := log.String(); !strings.Contains(line, "purged") || !strings.Contains(line, " conversations=1 questions=1") {
			t.Error(line)
		}
		if rows[purge.Conversations] != 1 || rows[purge.Contacts] != 1 || rows[purge.Questions] != 1 {
			t.Errorf("deleted %v", rows)
		}
	})
}
