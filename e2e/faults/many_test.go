package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/send/whatsapp/graphtest"
)

// bulk returns a request for n messages of one sender with different texts.
func (s *site) bulk(token, sender, template, kind string, n int, number func(i int) string) *ask {
	a := &ask{token: token, key: "key-" + token, size: n}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"number":%q,"name":"Ana %d %s"}`, number(i), i, token)
	}
	a.form = `{"contacts":[` + b.String() + `],"recipient_id":"` + sender + `","name_template":"` + template +
		`","language_template":"en","notification_type":"` + kind + `","campaign_name":"` + token +
		`","components_push":{"body_text_0":"{{name}}"}`
	s.asks = append(s.asks, a)
	return a
}

// flood sends n messages like bulk, a hundred per request, by several concurrent callers.
func (s *site) flood(name, sender, template, kind string, n int, number func(i int) string, lead time.Duration) []*ask {
	s.t.Helper()
	var asks []*ask
	for i := range n / 100 {
		a := s.bulk(fmt.Sprintf("%s %d", name, i), sender, template, kind, 100, number)
		a.lead = lead
		asks = append(asks, a)
	}
	s.each(asks, func(c *caller, a *ask) { c.run(s.t.Context(), a) })
	for _, a := range asks {
		if a.id == "" {
			s.t.Fatalf("%s was answered %d %s", a.token, a.status, a.code)
		}
	}
	return asks
}

// each calls do for all requests, by several concurrent callers.
func (s *site) each(asks []*ask, do func(c *caller, a *ask)) {
	const callers = 8
	var done sync.WaitGroup
	for i := range callers {
		c := newCaller(s.front, s.d.child())
		done.Go(func() {
			defer c.http.CloseIdleConnections()
			for k := i; k < len(asks); k += callers {
				do(c, asks[k])
			}
		})
	}
	done.Wait()
}

func (s *site) nextNumber(int) string { return fmt.Sprintf("3460%07d", s.numbers.Add(1)) }

// ask sends a request until it gets a response, which must be 200.
func (s *site) ask(a *ask) {
	s.t.Helper()
	c := newCaller(s.front, s.d.child())
	defer c.http.CloseIdleConnections()
	c.run(s.t.Context(), a)
	if a.id == "" {
		s.t.Fatalf("%s was answered %d %s", a.token, a.status, a.code)
	}
}

// cancel cancels unsent messages.
func (s *site) cancel(asks []*ask) {
	s.each(asks, func(c *caller, a *ask) {
		a.cancel = true
		c.change(s.t.Context(), a)
	})
}

// TestFaultsCrashWithMuchReadAhead kills the program with 1,000 marketing messages queued. Only messages that were
// really in flight may fail as unknown.
func TestFaultsCrashWithMuchReadAhead(t *testing.T) {
	scenario{
		name: "crash with 1,000 read ahead", setup: readAhead, round: crashReadAhead,
		check: func(s *site, l *ledger) {
			if failed := l.failed[string(carillon.ReasonOutcomeUnknown)]; failed > queue.DefaultLaneCap*s.kills {
				l.fault("%d failed as unknown after %d crashes; at most %d can have been in flight each time",
					failed, s.kills, queue.DefaultLaneCap)
			}
		},
	}.run(t)
}

// readAhead starts a node whose only sender gets no receipts.
func readAhead(s *site) {
	s.t.Helper()
	s.mute = true
	p := s.providers[1]
	p.first, p.perSecond = true, 1000
	s.providers = []*channelAccount{p}
	p.begin(s.t, s.front, false)
	p.graph.FailBy(slowly(s.t, s.d.child(), 300*time.Millisecond, func(dice, graphtest.Post) *graphtest.Failure {
		s.wire.post()
		return nil
	}))
	alone(s)
}

func crashReadAhead(s *site, name string) {
	s.t.Helper()
	s.wire.arm(100 + s.d.IntN(700))
	s.flood(name, s.providers[0].id, "hello_marketing", "marketing", 1000, s.nextNumber, 0)
	select {
	case <-s.wire.hit:
	case <-time.After(30 * time.Second):
		s.t.Error("it does not deliver")
	}
	s.x.kill()
	s.kills++
	s.x.start()
	s.held()
}

// TestFaultsManyToOneNumber queues 10,000 messages to one number, limited to one per second, and one message to
// another number behind them, which must not wait.
func TestFaultsManyToOneNumber(t *testing.T) {
	scenario{
		name: "10,000 to one number, one to another", quiet: true, setup: func(s *site) {
			for _, p := range s.providers {
				p.interval = time.Second
			}
			alone(s)
			pause(s.t.Context(), time.Second) // time in which a new owner starts no messages of a paced sender
		},
		round: func(s *site, name string) {
			sender, one := s.providers[0], s.nextNumber(0)
			flood := s.flood(name, sender.id, "hello_utility", "utility", 10_000, func(int) string { return one }, 0)
			s.kills++
			posts := sender.graph.Total()
			a := s.bulk(name+" other", sender.id, "hello_utility", "utility", 1, s.nextNumber)
			begin := time.Now()
			s.ask(a)
			ref := provider.Ref{NotificationID: a.id, N: 0, Attempt: 1}.String()
			if !await(s.t.Context(), 30*time.Second, func() bool { return len(sender.graph.Posts(ref)) > 0 }) {
				s.t.Errorf("the other was not posted (%d posts)", sender.graph.Total()-posts)
			}
			took := time.Since(begin)
			s.note("start of the other", took)
			if took > time.Second {
				s.t.Errorf("the other waited for %s", took)
			}
			s.cancel(flood)
		},
	}.run(t)
}

// TestFaultsPausedTemplate lets the channel pause a template with many queued messages. Other messages continue
// without delay, and when the template is reinstated, so do the messages that are still wanted.
func TestFaultsPausedTemplate(t *testing.T) {
	scenario{
		name: "paused template", setup: func(s *site) {
			s.patience = 5 * time.Minute
			alone(s)
		},
		rules: rules{retries: true},
		round: func(s *site, name string) {
			p := s.providers[0]
			n := 10_000
			if *rounds >= 20 && strings.HasSuffix(name, " 1") {
				n = 1_000_000 // once
			}
			p.graph.FailBy(func(graphtest.Post) *graphtest.Failure {
				if !s.paused.Load() {
					return nil
				}
				f := graphtest.Code(400, 132015)
				return &f
			})
			lead := 8 * time.Second
			if n == 1_000_000 {
				lead = 3 * time.Minute
			}
			behind := s.flood(name, p.id, "hello_marketing", "marketing", n, s.nextNumber, lead)
			s.paused.Store(true) // set by the first message that meets it
			first := s.bulk(name+" first", p.id, "hello_marketing", "marketing", 1, s.nextNumber)
			s.ask(first)
			s.holds(first)
			s.paused.Store(false)
			s.kills++
			pause(s.t.Context(), time.Until(behind[len(behind)-1].due.Add(500*time.Millisecond)))
			other := s.bulk(name+" other", p.id, "hello_utility", "utility", 1, s.nextNumber)
			begin := time.Now()
			s.ask(other)
			ref := provider.Ref{NotificationID: other.id, N: 0, Attempt: 1}.String()
			if !await(s.t.Context(), 30*time.Second, func() bool { return len(p.graph.Posts(ref)) > 0 }) {
				s.t.Error("another template waits")
			}
			s.note("start of another template", time.Since(begin))
			s.cancel(behind[1:])
			s.reinstate(p, "hello_marketing")
		},
	}.run(t)
}

// holds waits until a request's message is held for its template.
func (s *site) holds(a *ask) {
	s.t.Helper()
	if !await(s.t.Context(), 30*time.Second, func() bool {
		var n int
		err := s.books.db.QueryRowContext(s.t.Context(), "SELECT COUNT(*) FROM message WHERE id >> 7 = $1 AND hold <> ''",
			int64(carillon.SeqOf(a.id))).Scan(&n)
		return err == nil && n == 1
	}) {
		s.t.Error("the message is not held back")
	}
}

// reinstate delivers the channel's report that a template may be used again.
func (s *site) reinstate(p *channelAccount, template string) {
	s.t.Helper()
	var status int
	ok := await(s.t.Context(), 30*time.Second, func() bool {
		var err error
		status, err = p.graph.Deliver(s.t.Context(), p.address, p.graph.TemplateBody(template, "en", "APPROVED", ""))
		return err == nil && status == 200
	})
	if !ok {
		s.t.Errorf("the callback of the template was answered %d", status)
	}
}

// TestFaultsProviderIsSilentForAMinute has a third of the accounts not respond for a minute, a third accept the
// message without a response, and a third accept it without a response or a report: one account per round, all in
// parallel.
func TestFaultsProviderIsSilentForAMinute(t *testing.T) {
	const wait = 40 * time.Second // for an unknown outcome: longer than the program waits for a response
	scenario{
		name: "nothing for a minute", wide: true, rules: rules{retries: true}, setup: func(s *site) {
			s.mute, s.patience = true, 4*time.Minute
			s.providers = silent(s, wait)
			alone(s)
		},
		round: func(s *site, name string) {
			for i, p := range s.providers {
				s.ask(s.bulk(fmt.Sprintf("%s %d", name, i), p.id, "hello_utility", "utility", 3, s.nextNumber))
			}
			healthy := s.providers[0]
			for range 20 { // meanwhile others do not wait
				a := s.bulk(fmt.Sprintf("%s other %d", name, s.numbers.Load()), healthy.id, "hello_utility", "utility", 1, s.nextNumber)
				begin := time.Now()
				s.ask(a)
				ref := provider.Ref{NotificationID: a.id, N: 0, Attempt: 1}.String()
				if !await(s.t.Context(), 30*time.Second, func() bool { return len(healthy.graph.Posts(ref)) > 0 }) {
					s.t.Error("a healthy account waits for a silent one")
				}
				s.note("start of others meanwhile", time.Since(begin))
				pause(s.t.Context(), time.Second)
			}
			s.kills = int(s.made.Load())
		},
	}.run(t)
}

// silent returns accounts that fail in these ways, after one that does not.
func silent(s *site, wait time.Duration) []*channelAccount {
	var all []*channelAccount
	for i := range max(*rounds, 3) + 1 {
		p := &channelAccount{
			id: fmt.Sprintf("silent%d", i), number: fmt.Sprintf("1555555%04d", i), phone: fmt.Sprintf("%d", 1000001+i),
			first: i == 0, perSecond: 100, policy: []string{"retry", "fail"}[i%2], after: wait,
		}
		p.begin(s.t, s.front, i%3 != 2)
		if i > 0 {
			p.graph.FailBy(func(x graphtest.Post) *graphtest.Failure {
				if ref, err := provider.ParseRef(x.Ref); err != nil || ref.Attempt > 1 {
					return nil
				}
				s.made.Add(1)
				if i%3 == 0 {
					pause(s.t.Context(), time.Minute)
					return &graphtest.Failure{Kind: graphtest.CloseAfter}
				}
				return &graphtest.Failure{Kind: graphtest.Hang, Accepted: true}
			})
		}
		all = append(all, p)
	}
	return all
}
