// Package app builds all parts from config.Config and runs the program. New checks the settings, Start opens the store
// and listens, Stop drains, and Run combines them until its context ends. All background work is started and stopped
// here. Stop accepts no more requests, finishes those in progress, waits for sends in flight, writes the remaining
// results and closes the store.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/schedule"
	"carillon/internal/base/share"
	"carillon/internal/base/tracing"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/control"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/ops"
	"carillon/internal/edge/server"
	"carillon/internal/store"
	"carillon/internal/store/db"
)

// Options are inputs of the command besides the settings. The zero value works: no log and no output.
type Options struct {
	Logger *slog.Logger
	Stdout io.Writer // for the demo's credentials and the first token
	// For limits per processor, if it differs from the number of threads (docs/adr/0019); default GOMAXPROCS.
	Processors int

	GraphURL string // of the Cloud API at a sign-up, in tests; default Meta's
	CallPeer string // host:port of WhatsApp's SIP peer, in tests; default Meta's

	Now  func() time.Time                // clock, used only for request rates; default time.Now
	Wrap func(http.Handler) http.Handler // around all public requests, in tests

	listener net.Listener // of the address, after a stop for a move; else nil
}

// databaseWait is the time that a start waits for PostgreSQL, which may come up later after a power failure.
const databaseWait = time.Minute

// App is the whole program.
type App struct {
	cfg     config.Config
	o       Options
	log     *slog.Logger
	outage  *db.Outage
	shares  *share.Set // limits on concurrent work of this node
	metrics *ops.Metrics
	store   *store.Store

	readiness *ops.Readiness
	router    *httpio.Router
	server    *server.Server
	served    bool
	ready     config.Ready

	requestGrace time.Duration // how long a stop waits for requests before it drains the queue

	background []func(context.Context) error // runs until the final phase of a stop
	stops      []func(context.Context) error // in the order of the starts
	stopping   chan struct{}                 // closed when /readyz begins to fail
	ending     chan struct{}                 // closed when requests are no longer accepted
	draining   sync.Once
	work       sync.WaitGroup // the queue, and accepted calls
	rest       sync.WaitGroup // everything else in the background
	failed     chan error
	moves      chan *control.Move // a request to stop for a move
	once       sync.Once
	stopErr    error
}

// New checks the settings. It opens nothing; Start does.
func New(cfg config.Config, o Options) (*App, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	log, outage := db.LogOutages(o.Logger)
	if cfg.ShutdownTimeout <= 0 {
		cfg.ShutdownTimeout = 25 * time.Second
	}
	return &App{
		shares: new(share.Set), metrics: ops.NewMetrics(Version(), engineOf(cfg)),
		cfg: cfg, o: o, log: log, outage: outage, requestGrace: cfg.ShutdownTimeout / 5,
		stopping: make(chan struct{}), ending: make(chan struct{}), failed: make(chan error, 8),
		moves: make(chan *control.Move, 1),
	}, nil
}

// onStop adds a step to the stop sequence. Steps run in reverse order.
func (a *App) onStop(step func(context.Context) error) { a.stops = append(a.stops, step) }

// onClose adds a stop step that cannot fail.
func (a *App) onClose(step func()) {
	a.onStop(func(context.Context) error { step(); return nil })
}

// Start opens the store, applies the set-up, listens and begins to deliver. If it fails, it closes everything again.
func (a *App) Start(ctx context.Context) error {
	err := a.start(ctx)
	if err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	tracer, err := a.open(ctx)
	if err != nil {
		return err
	}
	p, err := a.wire(ctx, tracer)
	if err != nil {
		return err
	}
	if err := a.provision(ctx, p); err != nil {
		return err
	}
	telephone.WarnOfNumbers(ctx, a.store, a.log)
	if err := a.listen(ctx, p, tracer); err != nil {
		return err
	}
	warn(ctx, a.log, a.cfg, a.server.Addr())
	warnOfZones(ctx, a.log, schedule.Current(), schedule.BuiltIn(), time.Now())
	a.run(ctx, p)
	select {
	case <-p.queue.Ready():
	case err := <-a.failed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("start: %w", ctx.Err())
	}
	first, none, err := p.auth.FirstToken(ctx) // before serving, so that a database error here aborts no request
	if err != nil {
		return err
	}
	a.serve()
	if err := a.announce(ctx, p.queue.ID()); err != nil {
		return err
	}
	a.ready.FirstSteps(a.o.Stdout, a.cfg.ReadyFile, first, none)
	return nil
}

// open opens the store.
func (a *App) open(ctx context.Context) (*tracing.Tracing, error) {
	if err := a.cfg.CheckFolder(); err != nil {
		return nil, err
	}
	a.cfg.MaxConnections = server.WithinFiles(ctx, a.log, a.cfg.MaxConnections)
	if err := useZones(a.cfg); err != nil {
		return nil, err
	}
	key, err := a.cfg.MasterKey()
	if err != nil {
		return nil, err
	}
	tracer, err := tracing.New(ctx, tracing.Options{URL: a.cfg.TracesURL, Version: Version(), Log: a.log})
	if err != nil {
		return nil, err
	}
	a.store, err = store.Open(ctx, store.Options{
		Dir: a.cfg.Data, DatabaseURL: a.cfg.DatabaseURL.Reveal(), MasterKey: key, Processors: a.o.Processors, Logger: a.log,
		Committed: a.metrics.Committed, Wait: databaseWait, RequireSynchronous: a.cfg.RequireSynchronous, Shares: a.shares,
		Cell: a.cfg.Cell,
	})
	if err == nil {
		a.onStop(func(context.Context) error { return a.store.Close() })
	}
	a.onStop(func(ctx context.Context) error { tracer.Close(context.WithoutCancel(ctx)); return nil })
	if err != nil {
		return nil, err
	}
	a.outage.Watch(a.store.DB.Health.Ping)
	if err := a.store.Recognize(ctx, a.log); err != nil {
		return tracer, err
	}
	return tracer, checkRestored(ctx, a.store, a.log)
}

func authOptions(cfg config.Config, processors int, log *slog.Logger, shares *share.Set) auth.Options {
	o := auth.Options{Logger: log, Shares: shares}
	if processors > 0 {
		o.Hashes = max(1, processors/2)
	}
	if cfg.PasswordMemory > 0 && cfg.PasswordPasses > 0 {
		o.Params = auth.Params{Memory: uint32(cfg.PasswordMemory) * 1024, Passes: uint32(cfg.PasswordPasses), Threads: 1}
	}
	if cfg.Demo {
		o.FailedSignIns = -1 // the demo has no limits (docs/reference/limits.md)
	}
	return o
}

// run starts the background work, which outlives the context of Start.
func (a *App) run(ctx context.Context, p *parts) {
	ctx = context.WithoutCancel(ctx)
	queueCtx, stopQueue := context.WithCancel(ctx)
	restCtx, stopRest := context.WithCancel(ctx)
	a.onStop(func(context.Context) error {
		stopRest()
		err := a.server.CloseOps()
		a.rest.Wait()
		return err
	})
	var requests <-chan error
	a.onStop(func(context.Context) error { return <-requests })
	a.onClose(func() {
		stopQueue()
		if n := p.calls.UnderWay() + p.incoming.UnderWay(); n > 0 {
			a.log.Info("wait for calls to end", "calls", n, "most", a.cfg.CallDrain.String())
		}
		a.work.Wait()
	})
	// Requests in progress get a fifth of the shutdown timeout, so that the messages they accept can still be started.
	// Longer requests continue while the queue drains.
	a.onStop(func(ctx context.Context) error { requests = a.server.Finish(ctx, a.requestGrace); return nil })
	for _, run := range []func(context.Context) error{p.queue.Run, p.telephone.Run} {
		a.work.Go(func() { a.report(run(queueCtx)) })
	}
	for _, run := range a.background {
		a.rest.Go(func() { a.report(run(restCtx)) })
	}
}

func (a *App) report(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	select {
	case a.failed <- err:
	default:
	}
}

// Run starts the program, serves until ctx ends or a part fails, and stops it.
func (a *App) Run(ctx context.Context) error {
	err := a.Start(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		a.log.Info("stop while starting", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	go debug.FreeOSMemory() // the start leaves several times the memory of an idle node
	return a.serveUntil(ctx)
}

// serveUntil serves until ctx ends, a part fails, or the installation is moved, and stops.
func (a *App) serveUntil(ctx context.Context) error {
	var failure error
	select {
	case <-ctx.Done():
		a.log.Info("stop")
		failure = a.keepServing()
	case failure = <-a.failed:
		a.log.Error("stop because a part failed", "error", failure)
	case m := <-a.moves:
		return a.move(ctx, m)
	}
	return errors.Join(failure, a.Stop(context.WithoutCancel(ctx)))
}

// keepServing continues to serve during the shutdown delay while /readyz already fails, so that a load balancer stops
// sending connections before the listener closes. It returns early if a part fails or Stop is called.
func (a *App) keepServing() error {
	if a.cfg.ShutdownDelay <= 0 {
		return nil
	}
	a.drain()
	select {
	case <-time.After(a.cfg.ShutdownDelay):
	case <-a.ending:
	case err := <-a.failed:
		return err
	}
	return nil
}

// drain makes /readyz fail.
func (a *App) drain() { a.draining.Do(func() { close(a.stopping) }) }

// Stop drains and closes. It may be called more than once, and takes little longer than the shutdown timeout.
func (a *App) Stop(ctx context.Context) error {
	a.once.Do(func() { a.stopErr = a.stop(ctx) })
	return a.stopErr
}

func (a *App) stop(ctx context.Context) error {
	a.drain()
	close(a.ending)
	ctx, cancel := context.WithTimeout(ctx, a.cfg.ShutdownTimeout)
	defer cancel()
	var errs []error
	for _, step := range slices.Backward(a.stops) {
		errs = append(errs, step(ctx))
	}
	a.refuseMove()
	if a.served {
		a.log.Info("stopped")
	}
	return errors.Join(errs...)
}

// drainTime is the time that a stop waits for sends in flight.
func (a *App) drainTime() time.Duration { return a.cfg.ShutdownTimeout * 4 / 5 }

// Routes returns all routes, for tests that cover each of them.
func (a *App) Routes() []httpio.Route { return a.router.Routes() }

// BaseURL returns the address of the running program, without a trailing slash.
func (a *App) BaseURL() string { return a.ready.BaseURL }
