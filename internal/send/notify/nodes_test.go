package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// wakesOf converts the items that another node published. nil stays nil.
func wakesOf(items []realtime.Item) (ws []queue.Wake) {
	for _, x := range items {
		w := queue.Wake{Kind: queue.Messages, Due: time.UnixMilli(x.Value)}
		_, _ = fmt.Sscan(x.Key, &w.SenderUID, &w.Class)
		ws = append(ws, w)
	}
	return ws
}

// nodeBus carries wake-ups to other nodes.
type nodeBus struct{ r *rig }

func (b nodeBus) PublishWakes(ws []queue.Wake) {
	for _, w := range ws {
		b.r.bus.Publish("wake", realtime.Item{Key: fmt.Sprint(w.SenderUID, " ", int(w.Class)), Value: w.Due.UnixMilli()})
	}
}

func (b nodeBus) PublishShards() { b.r.bus.Publish("shards", realtime.Item{}) }

// joined adds another node to a rig's database, with the rig's provider. Without a bus, wake-ups do not reach other
// nodes.
func (r *rig) joined(o store.Options, bus bool) *rig {
	r.t.Helper()
	s, err := store.Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	n := &rig{t: r.t, store: s, provider: r.provider, company: r.company, sender: r.sender, template: r.template}
	log := slog.New(&doubts{slog.DiscardHandler, r.t})
	q := queue.Options{Log: log}
	if bus {
		q.Bus = nodeBus{n}
	}
	n.queue = queue.New(s, q)
	n.notify = notify.New(s, n.queue, notify.Options{Senders: map[string]notify.Sender{"test": n.provider}, Log: log})
	n.queue.OnDeposed(n.notify.Sweep)
	if bus {
		earliest := func(a, b int64) int64 { return min(a, b) }
		n.bus = realtime.NewBus(s.DB, log,
			realtime.Kind{Name: "wake", Merge: earliest, Receive: func(items []realtime.Item) { n.queue.Published(wakesOf(items)) }},
			realtime.Kind{Name: "shards", Merge: earliest, Receive: func([]realtime.Item) { n.queue.Published([]queue.Wake{}) }})
	}
	return n
}

// senders adds n senders, each with its own template, and returns their ids. As many as there are shards have one each.
func (r *rig) senders(n int) []string {
	r.t.Helper()
	const atOnce = 1000
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("s%d", i)
	}
	now := time.Now()
	for begin := 0; begin < n; begin += atOnce {
		err := r.store.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			for i := begin; i < min(begin+atOnce, n); i++ {
				s, t := *r.sender, *r.template
				s.UID, s.ID, s.Number, s.Default = 0, ids[i], strconv.Itoa(15555551000+i), false
				err := settings.PutSender(ctx, tx, &s, now)
				for ; err == nil && n == carillon.Shards && s.Shard() != i; err = settings.PutSender(ctx, tx, &s, now) {
					if _, err := tx.Exec(ctx, "DELETE FROM sender WHERE uid = $1", s.UID); err != nil {
						return err
					}
				}
				if err != nil {
					return err
				}
				t.ID, t.SenderUID = strconv.Itoa(200_000_000_000_000+i), s.UID
				if err := content.Compile(&t); err != nil {
					return err
				}
				if err := settings.PutTemplate(ctx, tx, &t, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return ids
}

func from(sender string, b []byte) []byte {
	return []byte(strings.Replace(string(b), `"recipient_id":"main"`, `"recipient_id":"`+sender+`"`, 1))
}

// owned returns the number of shards per node.
func (r *rig) owned() map[string]int {
	r.t.Helper()
	_, shards, err := r.store.Nodes.Cluster(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	n := map[string]int{}
	for _, s := range shards {
		n[s.Owner]++
	}
	return n
}

func (r *rig) owns(n int) func() bool { return func() bool { return r.owned()[r.queue.ID()] == n } }

// doubts is a log handler that fails a test when a node logs an unknown outcome.
type doubts struct {
	slog.Handler
	t *testing.T
}

func (d *doubts) Enabled(context.Context, slog.Level) bool { return true }

func (d *doubts) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "unknown") {
		d.t.Error(r.Message)
	}
	return nil
}

// turns waits until a node has checked the membership n more times.
func (r *rig) turns(n int64) {
	r.t.Helper()
	beat := func() int64 {
		nodes, _, err := r.store.Nodes.Cluster(context.Background())
		if err != nil {
			r.t.Fatal(err)
		}
		i := slices.IndexFunc(nodes, func(x work.Node) bool { return x.ID == r.queue.ID() })
		if i < 0 {
			return 0
		}
		return nodes[i].Beat
	}
	from := beat()
	await(r.t, "the node looks at the others", func() bool { return beat() >= from+n })
}

// gate blocks every send until it is opened.
type gate struct {
	waiting chan struct{}
	open    chan struct{}
}

func newGate() *gate { return &gate{make(chan struct{}, 1000), make(chan struct{})} }

func (g *gate) decide(m *provider.Outgoing) provider.Outcome {
	g.waiting <- struct{}{}
	<-g.open
	return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
}

// once checks that every message was sent exactly once and that none has an unknown outcome. A late node may have given
// up an attempt before its request: that makes another attempt, not another message.
func (r *rig) once(ids []string) {
	r.t.Helper()
	await(r.t, "all completed", func() bool {
		return !slices.ContainsFunc(ids, func(id string) bool { return r.view(id).State != carillon.StateCompleted })
	})
	for _, id := range ids {
		if x := r.view(id).Recipients[0]; x.State != carillon.StateSent {
			r.t.Errorf("a recipient stands at %+v", x)
		}
	}
	if n := r.provider.count(); n != len(ids) {
		r.t.Errorf("%d messages were sent, want %d", n, len(ids))
	}
}

func TestShardsMoveWithoutUnknownOutcomes(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	first := newRig(t, o, nil)
	a, b := first.joined(o, true), first.joined(o, true)
	senders := first.senders(carillon.Shards) // one per shard
	if err := first.store.Close(); err != nil {
		t.Fatal(err)
	}
	stopA := a.start()
	joining := newGate()
	a.provider.decide = joining.decide
	var ids []string
	for i, s := range senders {
		ids = append(ids, a.accept(from(s, body("", strconv.Itoa(34600100000+i)))))
	}
	for range ids {
		<-joining.waiting // every shard has a send in flight
	}
	stopB := b.start()
	leaving := newGate()
	b.provider.mu.Lock()
	b.provider.decide = leaving.decide
	b.provider.mu.Unlock()
	a.turns(2)
	if n := b.owned()[a.queue.ID()]; n != carillon.Shards {
		t.Errorf("with a send in flight in each of its shards a node kept %d", n)
	}
	close(joining.open)
	await(t, "the shards are divided", b.owns(carillon.Shards/2))
	b.once(ids)

	// One node leaves: the other gets all idle shards at once, and the rest when their sends have completed.
	var more []string
	for i, s := range senders {
		more = append(more, b.accept(from(s, body("", strconv.Itoa(34600200000+i)))))
	}
	for range more {
		<-leaving.waiting
	}
	var stopped sync.WaitGroup
	stopped.Go(stopA)
	defer stopB()
	await(t, "it has begun to leave", func() bool {
		nodes, _, err := b.store.Nodes.Cluster(context.Background())
		return err == nil && slices.ContainsFunc(nodes, func(n work.Node) bool { return n.Fit == work.Leaving })
	})
	b.turns(1)
	close(leaving.open)
	await(t, "the other has all shards", b.owns(carillon.Shards))
	b.once(append(ids, more...))
	stopped.Wait()
}

func TestMessageOfAnotherNodesShardIsFoundWithoutAnyWakeUp(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	first := newRig(t, o, nil)
	a, b := first.joined(o, false), first.joined(o, false)
	senders := first.senders(carillon.Shards)
	if err := first.store.Close(); err != nil {
		t.Fatal(err)
	}
	defer a.start()()
	defer b.start()()
	await(t, "the shards are divided", b.owns(carillon.Shards/2))
	await(t, "the shards are divided", a.owns(carillon.Shards/2))
	var ids []string
	for i, s := range senders {
		ids = append(ids, a.accept(from(s, body("", strconv.Itoa(34600100000+i)))))
	}
	a.once(ids)
}

func TestNodeWhoseProcessDiedIsSucceeded(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	first := newRig(t, o, nil)
	n := first.joined(o, true)
	id := first.accept(body("", "34600111222"))
	dead := carillon.NewID(time.Now())
	if err := first.store.Nodes.Join(t.Context(), dead, "host"); err != nil {
		t.Fatal(err)
	}
	var all []int
	for shard := range carillon.Shards {
		all = append(all, shard)
	}
	taken, err := first.store.Nodes.Take(t.Context(), all, dead)
	if err != nil || len(taken) != carillon.Shards {
		t.Fatal(len(taken), err)
	}
	if err := first.store.Close(); err != nil {
		t.Fatal(err)
	}
	defer n.start()()
	n.once([]string{id})
	if owned := n.owned(); owned[n.queue.ID()] != carillon.Shards {
		t.Errorf("the shards belong to %v", owned)
	}
}

func TestSenderIsPacedExactlyWhileItsShardMoves(t *testing.T) {
	t.Parallel()
	const rate, messages = 40, 100
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	first := newRig(t, o, func(r *rig) { r.sender.PerSecond = rate })
	a, b := first.joined(o, true), first.joined(o, true)
	if err := first.store.Close(); err != nil {
		t.Fatal(err)
	}
	nodes := []struct {
		*rig
		stop func()
	}{{a, a.start()}, {b, b.start()}}
	await(t, "the shards are divided", b.owns(carillon.Shards/2))
	var ids []string
	for i := range messages {
		ids = append(ids, nodes[i%2].accept(body("", strconv.Itoa(34600100000+i))))
	}
	await(t, "some are sent", func() bool { return a.provider.count() > rate })
	_, shards, err := b.store.Nodes.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rest := a
	if shards[first.sender.Shard()].Owner == a.queue.ID() {
		rest = b
	}
	for _, n := range nodes {
		if n.rig != rest {
			n.stop()
		} else {
			defer n.stop()
		}
	}
	rest.once(ids)
	at := make([]time.Time, 0, messages)
	for _, s := range a.provider.all() {
		at = append(at, s.at)
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := rate; i < len(at); i++ {
		if window := at[i].Sub(at[i-rate]); window < time.Second {
			t.Errorf("messages %d to %d were sent within %s", i-rate, i, window)
		}
	}
}

func TestNodesTogetherMeetTheQuotaAndAcceptAKeyOnce(t *testing.T) {
	t.Parallel()
	const limit, recipients, requests = 100, 3, 60
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	first := newRig(t, o, func(r *rig) { r.company.Limits.DailyRecipients = limit })
	nodes := []*rig{first, first.joined(o, false)}
	defer func() {
		for _, n := range nodes {
			if err := n.store.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	day := time.Now().UTC().YearDay()
	var mu sync.Mutex
	ids, refused := map[string]int{}, 0
	var all sync.WaitGroup
	for i := range requests {
		for j, n := range nodes { // every key at both nodes concurrently
			all.Go(func() {
				s := &notify.Submission{Company: n.company, Route: "notify", IdempotencyKey: fmt.Sprintf("key-%d", i)}
				b := body("", strconv.Itoa(34600100000+i), strconv.Itoa(34600200000+i), strconv.Itoa(34600300000+i))
				a, err := n.notify.AcceptBody(t.Context(), s, carillon.Messaging, b, false)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					ids[string(a.JSON)]++
				case carillon.IsCode(err, carillon.QuotaExceeded):
					refused++
				default:
					t.Errorf("node %d: %v", j, err)
				}
			})
		}
	}
	all.Wait()
	if time.Now().UTC().YearDay() != day {
		return // a new day has a new quota
	}
	if len(ids) != limit/recipients || refused != 2*(requests-len(ids)) {
		t.Errorf("%d requests of %d recipients were accepted, %d refused; the quota is %d", len(ids), recipients, refused, limit)
	}
	for id, n := range ids {
		if n != 2 {
			t.Errorf("%s was answered %d times, want the same answer at both nodes", id, n)
		}
	}
}
