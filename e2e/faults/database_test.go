package faults

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

// databaseRules are the rules for database failures: we repeat attempts, and a request with a 503 may have been
// stored.
var databaseRules = rules{retries: true, errorsStored: true}

// losing returns a round in which the node loses its database under load, and owns its shards again afterwards.
func losing(lasts time.Duration, lose func(ctx context.Context, s *site)) func(s *site, name string) {
	return func(s *site, name string) {
		s.disturb(name, size, lasts, func(ctx context.Context) { lose(ctx, s) })
		s.held()
	}
}

func TestFaultsDatabaseRestarts(t *testing.T) {
	t.Parallel() // otherwise these two would run before all others
	for _, way := range []struct {
		name string
		how  syscall.Signal
	}{{"PostgreSQL restarted fast", syscall.SIGINT}, {"PostgreSQL restarted at once", syscall.SIGQUIT}} {
		t.Run(way.name, func(t *testing.T) {
			scenario{
				name: way.name, engines: []string{"postgres"}, open: onCluster, setup: alone, rules: databaseRules,
				round: losing(3*time.Second, func(ctx context.Context, s *site) {
					for range 1 + s.d.IntN(2) {
						pause(ctx, s.d.between(200*time.Millisecond, 1500*time.Millisecond))
						s.cluster.stop(way.how)
						s.kills++
						pause(ctx, s.d.between(0, 3*time.Second))
						s.cluster.start()
					}
				}),
			}.run(t)
		})
	}
}

func TestFaultsConnectionsThatTheDatabaseEnds(t *testing.T) {
	scenario{
		name: "connections ended by PostgreSQL", engines: []string{"postgres"}, setup: alone, rules: databaseRules,
		round: losing(2*time.Second, func(ctx context.Context, s *site) {
			for range 6 {
				pause(ctx, s.d.between(50*time.Millisecond, 400*time.Millisecond))
				s.kills++
				if _, err := s.books.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE application_name = 'carillon' AND datname = current_database()`); err != nil {
					s.t.Error(err)
				}
			}
		}),
	}.run(t)
}

// proxied starts a site's only node behind a proxy.
func proxied(s *site) {
	s.t.Helper()
	s.proxy = newProxy(s.t, s.url)
	s.x = s.node(s.proxy.url)
	s.front.set(s.x)
	s.x.start()
	s.held()
}

func TestFaultsConnectionsThatTheNetworkCuts(t *testing.T) {
	scenario{
		name: "connections cut", engines: []string{"postgres"}, setup: proxied, rules: databaseRules,
		round: losing(3*time.Second, func(ctx context.Context, s *site) {
			for range 4 {
				pause(ctx, s.d.between(50*time.Millisecond, 600*time.Millisecond))
				s.proxy.cut()
				s.kills++
				pause(ctx, s.d.between(0, 300*time.Millisecond))
				s.proxy.mend()
			}
		}),
	}.run(t)
}

func TestFaultsSwallowedAnswerOfACommit(t *testing.T) {
	scenario{
		name: "answers of COMMITs swallowed", engines: []string{"postgres"}, setup: proxied, rules: databaseRules,
		round: func(s *site, name string) {
			var mu sync.Mutex
			d := s.d.child()
			s.proxy.swallowBy(func() bool {
				mu.Lock()
				defer mu.Unlock()
				return d.chance(20)
			})
			s.disturb(name, size, 2*time.Second, func(context.Context) {})
			pause(s.t.Context(), time.Second) // deliveries continue
			s.proxy.swallowBy(nil)
			s.kills = int(s.proxy.swallowed.Load())
		},
		check: func(s *site, l *ledger) {
			if s.kills == 0 {
				l.fault("no answer was swallowed")
			}
		},
	}.run(t)
}

// TestFaultsNoNotificationArrives lets one node accept and the other deliver without receiving NOTIFY: it must find
// the messages by reading the table.
func TestFaultsNoNotificationArrives(t *testing.T) {
	scenario{
		name: "every NOTIFY suppressed", engines: []string{"postgres"}, setup: func(s *site) {
			two(s)
			s.a.proxy.deaf.Store(true)
			s.b.proxy.deaf.Store(true)
		},
		round: func(s *site, name string) {
			s.choose()
			s.front.set(s.b)
			before := s.proxy.dropped.Load()
			s.disturb(name, size, 2*time.Second, func(context.Context) {})
			s.front.set(s.a, s.b)
			s.kills = int(s.proxy.dropped.Load())
			if s.proxy.dropped.Load() == before {
				s.t.Error("no notification was suppressed")
			}
		},
		check: func(s *site, l *ledger) { l.startedWithin(s, 15*time.Second) },
	}.run(t)
}

// TestFaultsEveryCallerGone has callers that disconnect at any time during their request, in the middle of a batch.
func TestFaultsEveryCallerGone(t *testing.T) {
	scenario{
		name: "every caller gone mid-batch", setup: alone,
		round: func(s *site, name string) {
			asks := s.draw(name, 2*size)
			var done sync.WaitGroup
			for _, a := range asks {
				c, wait := newCaller(s.front, s.d.child()), s.d.between(0, 12*time.Millisecond)
				a.key = ""
				a.write()
				done.Go(func() {
					defer c.http.CloseIdleConnections()
					ctx, leave := context.WithTimeout(s.t.Context(), wait)
					defer leave()
					c.post(ctx, a)
					a.lost = a.id == "" && a.status == 0
				})
			}
			done.Wait()
			s.kills += len(asks)
			// Later requests get a response.
			s.disturb(name+" after", 10, 200*time.Millisecond, func(context.Context) {})
		},
	}.run(t)
}

// mark is the prefix of the tokens of requests that the database refuses.
const mark = "poisoned"

// TestFaultsPoisonedRow makes the database refuse one request in a hundred, which must fail alone.
func TestFaultsPoisonedRow(t *testing.T) {
	scenario{
		name: "one poisoned row in a hundred", setup: func(s *site) {
			alone(s)
			database, refuse := s.url, "ALTER TABLE notification ADD CONSTRAINT poison CHECK (campaign NOT LIKE '"+mark+"%')"
			if s.url == "" {
				database = s.dir + "/carillon.db"
				refuse = "CREATE TRIGGER poison BEFORE INSERT ON notification WHEN NEW.campaign LIKE '" + mark +
					"%' BEGIN SELECT RAISE(ABORT, 'poison'); END"
			}
			storetest.Exec(s.t, database, refuse)
		},
		round: func(s *site, name string) {
			poisoned := s.draw(mark+" "+name, 2)
			for _, a := range poisoned {
				a.key = ""
			}
			asks := append(s.draw(name, 198), poisoned...)
			s.d.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
			var done sync.WaitGroup
			callers := make(chan struct{}, 64)
			for _, a := range asks {
				c := newCaller(s.front, s.d.child())
				callers <- struct{}{}
				done.Go(func() {
					defer func() { <-callers }()
					defer c.http.CloseIdleConnections()
					c.run(s.t.Context(), a)
				})
			}
			done.Wait()
			s.kills += len(poisoned)
			for _, a := range poisoned {
				if a.status != 500 {
					s.t.Errorf("%s was answered %d, not 500", a.token, a.status)
				}
			}
		},
		check: func(s *site, l *ledger) {
			if l.errors["500 internal_error"] != s.kills {
				l.fault("%d were answered 500, poisoned are %d", l.errors["500 internal_error"], s.kills)
			}
		},
	}.run(t)
}
