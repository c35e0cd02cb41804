package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"carillon"
	"carillon/internal/load"
)

// soak keeps nodes under load for a long time while one of them is restarted again and again, and keeps a ledger of every
// message.
type soak struct {
	*bench
	e        engine
	lasts    time.Duration
	rate     float64 // requests a second; 0: 60 % of what it measures
	out      string  // name of the pages, without an ending
	sink     *child
	options  []nodeOptions
	client   *failover
	begin    time.Time
	ran      time.Duration // load and rests
	measured [2]float64    // accepted and sustained, a second
	took     load.Hist     // by all accepted requests of the run
	answers  map[int]int64
	gone     int64 // requests without an answer

	mu       sync.Mutex
	nodes    []*soaked
	samples  []sample
	windows  []window
	current  *load.Hist
	restarts []restart
	resting  bool
	atRest   [][]sample // the nodes, before the load and after each stretch of it
	told     []uint64   // keys of what clients were told is accepted
}

// soaked is a node of the soak, as it is now.
type soaked struct {
	*node
	life int
	down bool
}

// restart is one: by a kill or a signal, and how long the node was away.
type restart struct {
	at     time.Duration
	node   int
	killed bool
	away   time.Duration
}

// window is ten seconds of answers, and how the machine was meanwhile.
type window struct {
	at              time.Duration
	rate            float64
	p50, p99        float64 // ms
	speed, withheld float64 // of a processor, MB/s; of the processors' time, %
	flush           float64 // ms, of 4 KiB to the disk
}

const (
	restEvery    = 5 * time.Minute // of load
	restartEvery = time.Minute
	killEvery    = 5 // every so many restarts are kills
	windowOf     = 10 * time.Second
	flushes      = 9 // of which a window has the median
	soakConns    = 64
	soakSenders  = carillon.Shards // one a shard: whichever shards a node has, it has as many senders
)

// choose takes the engine, and the pages' name where none was given.
func (s *soak) choose(name string) error {
	switch name {
	case "sqlite":
		s.e, s.out = engines()[0], cmp.Or(s.out, "bench/soak-sqlite")
	case "postgres":
		s.e, s.out = engines()[1], cmp.Or(s.out, "bench/soak")
	default:
		return fmt.Errorf("no engine is called %q; there are postgres and sqlite", name)
	}
	return nil
}

// run soaks: measures what the nodes can take, loads them with a part of it in stretches with rests between, in which all
// is delivered, and writes what came of it.
func (s *soak) run(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if s.rate == 0 {
		if err := s.calibrate(ctx); err != nil {
			return err
		}
	}
	if err := s.lookAtRest(ctx); err != nil {
		return err
	}
	s.say("soaking %d nodes on %s with %.0f requests/s for %s in %d stretches", len(s.options), s.e.name, s.rate, s.lasts, s.stretches())
	s.begin, s.answers = time.Now(), map[int]int64{}
	err := beside(ctx, func(ctx context.Context) error {
		for range s.stretches() {
			if err := s.stretch(ctx); err != nil {
				return err
			}
			if err := s.lookAtRest(ctx); err != nil {
				return err
			}
		}
		return nil
	}, s.watch)
	if err != nil {
		return err
	}
	s.ran = time.Since(s.begin)
	ledger, err := s.settleAccounts(ctx)
	if err != nil {
		return err
	}
	return s.report(ledger)
}

// stretches are how many times the load begins and ends.
func (s *soak) stretches() int { return max(1, int(s.lasts/restEvery)) }

// stretch is a part of the load.
func (s *soak) stretch(ctx context.Context) error {
	s.mu.Lock()
	s.current, s.resting = &load.Hist{}, false
	s.mu.Unlock()
	l := load.Load{Conns: soakConns, For: s.lasts / time.Duration(s.stretches()), Rate: s.rate, Poisson: true, Tolerant: true, Do: s.client.do, Seen: s.seen}
	var r *load.Result
	err := beside(ctx, func(ctx context.Context) (err error) {
		r, err = l.Run(ctx)
		return err
	}, s.restartAll, s.window)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.resting = true
	s.mu.Unlock()
	s.took.Merge(&r.OK)
	for status, n := range r.Answers() {
		s.answers[status] += n
	}
	s.gone += r.Broken.Load()
	return nil
}

// beside does work, and others beside it for as long as it lasts. One that fails ends all, with its error.
func beside(ctx context.Context, work func(context.Context) error, others ...func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	for _, other := range others {
		all.Go(func() {
			if err := other(ctx); err != nil && ctx.Err() == nil {
				end(err)
			}
		})
	}
	err := work(ctx)
	end(err)
	all.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// prepare starts the sink and the nodes.
func (s *soak) prepare(ctx context.Context) error {
	var err error
	if s.sink, err = s.role("sink"); err != nil {
		return err
	}
	address, err := s.sink.hear()
	if err != nil {
		return err
	}
	database := ""
	if s.e.postgres {
		if database, err = s.cluster.database(ctx, "soak"); err != nil {
			return err
		}
	}
	count := map[bool]int{false: 1, true: 2}[s.e.postgres]
	var addrs []string
	for i := range count {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		addrs = append(addrs, addr)
		s.options = append(s.options, nodeOptions{
			addr: addr, database: database, dir: filepath.Join(s.dir, "soak"+strconv.Itoa(i)), provider: address, ops: true, senders: soakSenders,
			extra: "unknown_outcome: {transactional: fail, utility: fail, marketing: fail, after: 45s}, ",
		})
	}
	for i := range count {
		n, err := s.serve(ctx, s.options[i])
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, &soaked{node: n})
	}
	s.client = newFailover(addrs, soakConns)
	return rest(ctx, 4*time.Second) // the nodes share the shards
}

// calibrate measures what the nodes accept in a closed loop, and what they accept and deliver when they must do both.
func (s *soak) calibrate(ctx context.Context) error {
	d := pick(s.bench, 20*time.Second, 8*time.Second)
	begin := time.Now()
	l := load.Load{Conns: soakConns, For: d, Tolerant: true, Do: s.client.do, Seen: s.seen}
	s.current = &load.Hist{}
	r, err := l.Run(ctx)
	if err != nil {
		return err
	}
	all := int(r.OK.Count())
	for done := 0; done < all; {
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if done, _, err = s.counted(); err != nil {
			return err
		}
		if time.Since(begin) > 10*time.Minute {
			return fmt.Errorf("%d of %d messages were delivered within ten minutes", done, all)
		}
	}
	s.measured = [2]float64{r.Rate(), float64(all) / time.Since(begin).Seconds()}
	s.rate = 0.6 * min(s.measured[0], s.measured[1])
	s.say("accepted %.0f/s; accepted and delivered %.0f/s", s.measured[0], s.measured[1])
	return nil
}

// counted asks the sink how many messages and posts came.
func (s *soak) counted() (messages, posts int, err error) {
	if err := s.sink.tell("count"); err != nil {
		return 0, 0, err
	}
	text, err := s.sink.hear()
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(text, &messages, &posts)
	return messages, posts, err
}

// quiet waits until nothing more is delivered.
func (s *soak) quiet(ctx context.Context) error {
	for last, quiet := -1, 0; quiet < 8; quiet++ {
		now, _, err := s.counted()
		if err != nil {
			return err
		}
		if now != last {
			last, quiet = now, 0
		}
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) seen(_, _ int, a load.Answer, took time.Duration) {
	id, found := notificationID(a.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Status == 200 && found {
		s.told = append(s.told, messageKey(id, "0"))
		s.current.Add(took)
	}
}

// window closes a window every ten seconds.
func (s *soak) window(ctx context.Context) error {
	for before := readProcessor(); ; before = readProcessor() {
		if err := rest(ctx, windowOf); err != nil {
			return err
		}
		withheld, mbs := readProcessor().withheld(before), speed()
		flush, err := s.disk.measure(flushes)
		if err != nil {
			return err
		}
		s.mu.Lock()
		h := s.current
		s.current = &load.Hist{}
		w := window{time.Since(s.begin), float64(h.Count()) / windowOf.Seconds(), h.Milliseconds(0.5), h.Milliseconds(0.99), mbs, withheld, flush}
		s.windows = append(s.windows, w)
		s.mu.Unlock()
		if len(s.windows)%6 == 0 {
			s.say("minute %d of %.0f: %.0f/s, p50 %.1f p99 %.1f ms; a processor %.0f MB/s, withheld %.0f %%, a flush %.2f ms",
				len(s.windows)/6, s.lasts.Minutes(), w.rate, w.p50, w.p99, w.speed, w.withheld, w.flush)
		}
		if err := s.roomLeft(); err != nil {
			return err
		}
	}
}

// roomLeft refuses to fill the disk.
func (s *soak) roomLeft() error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &fs); err != nil {
		return err
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < 4<<30 {
		return errors.New("less than 4 GB are left on the disk")
	}
	return nil
}

// every is how often a node is restarted.
func (s *soak) every() time.Duration {
	return min(restartEvery, s.lasts/time.Duration(4*s.stretches()))
}

// restarting is the node that is restarted. Of several the first stays, so that it shows what a long life does.
func (s *soak) restarting() int { return len(s.options) - 1 }

// restartAll restarts the last node every minute of a stretch, in its middle; every fifth time by a kill.
func (s *soak) restartAll(ctx context.Context) error {
	for next := time.Now().Add(s.every() / 2); ; next = next.Add(s.every()) {
		if err := rest(ctx, time.Until(next)); err != nil {
			return err
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
	}
}

func (s *soak) restart(ctx context.Context) error {
	which := s.restarting()
	s.mu.Lock()
	old := s.nodes[which]
	old.down = true
	s.mu.Unlock()
	r := restart{at: time.Since(s.begin), node: which, killed: (len(s.restarts)+1)%killEvery == 0}
	begin := time.Now()
	if r.killed {
		old.kill()
	} else {
		old.stop()
	}
	n, err := s.serve(ctx, s.options[which])
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	r.away = time.Since(begin)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[which] = &soaked{node: n, life: old.life + 1}
	s.restarts = append(s.restarts, r)
	return nil
}

// writeTold writes the keys for the sink.
func (s *soak) writeTold() (string, error) {
	name := filepath.Join(s.dir, "told")
	bytes := make([]byte, 0, 8*len(s.told))
	for _, key := range s.told {
		bytes = binary.LittleEndian.AppendUint64(bytes, key)
	}
	return name, os.WriteFile(name, bytes, 0o600)
}
