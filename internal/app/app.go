// Package app builds every part from config.Config and runs the program. New checks the settings, Start opens the store and
// listens, Stop drains, and Run does both for the life of a context. All background work is started and stopped here; Stop
// accepts no more, finishes requests, waits for sends in flight, writes the remaining results and closes the store.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/docs"
	"carillon/internal/account/activity"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/account/sso"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/openai"
	"carillon/internal/agent/translate"
	"carillon/internal/base/config"
	"carillon/internal/base/egress"
	"carillon/internal/base/httpio"
	"carillon/internal/base/provider"
	"carillon/internal/base/schedule"
	"carillon/internal/base/share"
	"carillon/internal/base/tracing"
	"carillon/internal/call"
	"carillon/internal/call/handset"
	"carillon/internal/call/rtp"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/api"
	"carillon/internal/edge/control"
	"carillon/internal/edge/manual"
	"carillon/internal/edge/ops"
	"carillon/internal/edge/panel"
	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/server"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
	"carillon/internal/send/bulk"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/send/sandbox"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/purge"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/messaging"
	"carillon/internal/talk/person"
	"carillon/internal/voice"
	"carillon/web"
)

// Options are what the command gives besides the settings. The zero value works: nothing is logged or printed.
type Options struct {
	Logger     *slog.Logger
	Stdout     io.Writer // where the demo's credentials and the first token are printed
	Processors int       // for limits by processor, where there are more threads (docs/adr/0019); default GOMAXPROCS

	Now func() time.Time // the clock of request rates alone; default time.Now
}

// databaseWait is how long a start waits for PostgreSQL, which after a failure of power may come up later.
const databaseWait = time.Minute

// App is the whole program.
type App struct {
	cfg config.Config
	o   Options
	log *slog.Logger

	store         *store.Store
	limits        *limit.Limits
	auth          *auth.Auth
	catalog       *catalog.Catalog
	notify        *notify.Notify
	calls         *call.Calls
	conversations *conversation.Conversations
	voices        *voice.Sessions
	sip           *sip.Engine
	unheard       rtp.Refused              // packets of sound that calls did not hear
	speakers      map[string]voice.Speaker // by agent.Voice.Speaker
	files         *files.Files
	translator    *translate.Client // nil: nothing is translated
	mailer        *mail.Mailer      // nil: no e-mails are sent
	search        *knowledge.Search
	thinker       agent.Thinker
	engines       *egress.Client // asks the servers that agents think with
	pages         *egress.Client // reads pages that become articles
	flowServers   *egress.Client // asks the servers of flows
	hookServers   *egress.Client // sends events to endpoints
	hooks         *hook.Deliverer
	messaging     *messaging.Messaging
	bulk          *bulk.Jobs
	queue         *queue.Queue
	bus           *realtime.Bus
	hub           *realtime.Hub
	outward       *egress.Client // what addresses of providers that members choose may reach
	whatsapp      *whatsapp.Client
	sandbox       *sandbox.Channel
	phone         *handset.Phone
	telephone     *telephone.Telephone
	incoming      *call.Incoming
	media         *egress.Prober
	purge         *purge.Purge
	activity      *activity.Recorder
	metrics       *ops.Metrics
	readiness     *ops.Readiness
	tracing       *tracing.Tracing // nil: off

	shares *share.Set // what this node holds at once
	router *httpio.Router
	server *server.Server
	served bool
	ready  config.Ready

	requestsFirst time.Duration // how long a stop waits for requests before it drains the queue

	outage    *db.Outage
	stopping  chan struct{} // closed when /readyz begins to fail
	ending    chan struct{} // closed when requests are no longer accepted
	draining  sync.Once
	stopQueue context.CancelFunc
	stopRest  context.CancelFunc
	work      sync.WaitGroup // the queue, and calls that were taken
	rest      sync.WaitGroup // everything else in the background
	failed    chan error
	once      sync.Once
	stopErr   error
}

// New checks the settings. Nothing is opened before Start.
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
		shares: new(share.Set),
		cfg:    cfg, o: o, log: log, outage: outage, requestsFirst: cfg.ShutdownTimeout / 5,
		stopping: make(chan struct{}), ending: make(chan struct{}), failed: make(chan error, 8),
	}, nil
}

// Start opens the store, applies the set-up, listens and begins to deliver. On an error it closes what it opened.
func (a *App) Start(ctx context.Context) error {
	err := a.start(ctx)
	if err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	a.metrics = ops.NewMetrics(Version(), engineOf(a.cfg))
	if err := a.cfg.CheckFolder(); err != nil {
		return err
	}
	a.cfg.MaxConnections = server.WithinFiles(ctx, a.log, a.cfg.MaxConnections)
	if err := useZones(a.cfg); err != nil {
		return err
	}
	key, err := a.cfg.MasterKey()
	if err != nil {
		return err
	}
	if a.tracing, err = tracing.New(ctx, tracing.Options{URL: a.cfg.TracesURL, Version: Version(), Log: a.log}); err != nil {
		return err
	}
	a.store, err = store.Open(ctx, store.Options{
		Dir: a.cfg.Data, DatabaseURL: a.cfg.DatabaseURL.Reveal(), MasterKey: key, Processors: a.o.Processors, Logger: a.log,
		Committed: a.metrics.Committed, Wait: databaseWait, Shares: a.shares,
	})
	if err != nil {
		return err
	}
	a.outage.Watch(a.store.Ping)
	if err := checkRestored(ctx, a.store, a.log); err != nil {
		return err
	}
	if err := a.wire(ctx); err != nil {
		return err
	}
	a.readiness = ops.NewReadiness(a.log, ops.Conditions{Store: a.store, Queue: a.queue, Stopping: a.stopping, KeyOpen: a.cfg.MasterKeyOpen})
	if err := a.provision(ctx); err != nil {
		return err
	}
	warnOfNumbers(ctx, a.store, a.log)
	if err := a.listen(ctx); err != nil {
		return err
	}
	warn(ctx, a.log, a.cfg, a.server.Addr())
	warnOfZones(ctx, a.log, schedule.Current(), schedule.BuiltIn(), time.Now())
	a.run(ctx)
	select {
	case <-a.queue.Ready():
	case err := <-a.failed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("start: %w", ctx.Err())
	}
	first, none, err := a.auth.FirstToken(ctx) // before serving, so that a database error here ends no request
	if err != nil {
		return err
	}
	a.serve()
	if err := a.announce(ctx); err != nil {
		return err
	}
	a.printFirstSteps(first, none)
	return nil
}

// wire builds the parts, from the store up.
func (a *App) wire(ctx context.Context) error {
	a.limits = limit.New(a.store.Rates(), a.log)
	if a.o.Now != nil {
		a.limits.Now = a.o.Now
	}
	a.auth = auth.New(a.store.Accounts(), a.limits, authOptions(a.cfg, a.o.Processors, a.log, a.shares))
	a.outward = egress.New(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate})
	a.whatsapp = whatsapp.New(whatsapp.Options{Egress: a.outward})
	reviewed := func(ctx context.Context, e provider.TemplateEvent) error {
		return a.catalog.Apply(ctx, []provider.TemplateEvent{e})
	}
	approved := func(ctx context.Context, t *carillon.Template) error { return a.notify.Release(ctx, t) }
	a.sandbox = newSandbox(a, reviewed)
	a.media = egress.NewProber(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate}, a.shares)
	a.catalog = catalog.New(a.store, map[string]catalog.Reviewer{"whatsapp": a.whatsapp, "sandbox": a.sandbox},
		catalog.Options{OnApproved: approved, Logger: a.log})
	host, _ := os.Hostname()
	deposed := func() {
		a.notify.Sweep()
		a.conversations.Deposed()
		a.messaging.Deposed()
	}
	o := queue.Options{Deposed: deposed, Log: a.log, Name: host}
	if a.store.Engine() == "postgres" {
		o.Bus, o.Lapsed = nodeBus{a}, a.whatsapp.CloseIdleConnections
	}
	o.Stay = func() { a.incoming.Wait() }
	a.queue = queue.New(a.store, o)
	of := share.Calls.Of(int64(a.cfg.MaxCalls))
	of.Node = 0 // the queue bounds the calls that are placed, and the telephone all
	calls := a.shares.Of(of)
	a.incoming = call.NewIncoming(a.store, a.queue, calls, a.log)
	observer := ops.Observer{Metrics: a.metrics, Tracing: a.tracing}
	a.notify = notify.New(a.store, a.queue, notify.Options{
		Senders: observer.Senders(map[string]notify.Sender{"whatsapp": a.whatsapp, "sandbox": a.sandbox}),
		Denied:  a.cfg.CallsDenied,
		Media:   media{a.media}, Templates: a.catalog, Observer: observer, Drain: a.drainTime(), Log: a.log,
	})
	dialers := map[string]call.Dialer{}
	a.calls = call.New(a.store, a.queue, call.Options{
		Dialers: dialers, Incoming: a.incoming, Observer: a.metrics, Drain: a.cfg.CallDrain, Most: a.cfg.MaxCalls, Share: calls, Log: a.log,
	})
	a.purge, a.activity = purge.New(a.store, purge.Options{Step: a.metrics.Purged, Backlog: a.metrics.Backlog, Log: a.log}), activity.New(a.store.APICalls(), activity.Options{Kept: a.metrics.Kept, Dropped: a.metrics.Dropped, Log: a.log})
	a.hooks = newHooks(a)
	a.topics()
	a.search = knowledge.NewSearch(a.store.Documents(), a.log)
	a.engines = egress.New(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate, Timeout: engineTimeout, MaxBody: maxEngineResponse, Redirects: -1})
	a.thinker = openai.New(openai.Options{
		Client: a.engines, Builtin: agent.NewBuiltin(a.search), Search: a.search, Log: a.log, Allow: engineTurns{a.store, a.limits}.allow,
	})
	a.pages = egress.New(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate, MaxBody: maxPage})
	a.conversations = newConversations(a)
	a.voices = newVoices(a)
	sessionKey, err := a.store.Derive("chat sessions")
	if err != nil {
		return err
	}
	fileKey, err := a.store.Derive("addresses of files")
	if err != nil {
		return err
	}
	if a.cfg.TranslateURL != "" {
		a.translator = translate.New(translate.Options{URL: a.cfg.TranslateURL, Key: a.cfg.TranslateKey.Reveal(), Log: a.log})
	}
	if a.cfg.SMTPURL != "" {
		if a.mailer, err = mail.New(mail.Options{URL: a.cfg.SMTPURL.Reveal(), From: a.cfg.MailFrom, Log: a.log}); err != nil {
			return err
		}
	}
	a.files = files.New(a.store.Files(), files.Options{
		Most: int64(a.cfg.FileSize) << 20, Company: int64(a.cfg.CompanyFiles) << 20, Key: fileKey, Suspended: suspended(a.store), Shares: a.shares,
	})
	a.messaging, a.bulk = newMessaging(a), newBulk(a)
	if a.telephone, err = openTelephone(ctx, a); err != nil {
		return err
	}
	dialers["sandbox"], dialers["sip"] = a.telephone, a.telephone
	a.router = httpio.NewRouter(a.log, observer.Responded, a.routes(sessionKey)...)
	a.router.Slow, a.router.Refused = a.cfg.LogSlow, refusals(a.activity, a.cfg.TrustedProxies)
	a.router.Proxies, a.router.Bodies = a.cfg.TrustedProxies, a.shares.Of(share.Bodies)
	a.router.Streams = a.shares.Of(share.EventStreams.Of(int64(a.cfg.MaxConnections+1) / 2)) // the rest is for requests
	return nil
}

func (a *App) routes(sessionKey []byte) []httpio.Route {
	base := func() string { return a.ready.BaseURL }
	people := person.New(a.store, a.shares)
	public := api.Routes(api.Deps{
		Store: a.store, Auth: a.auth, Notify: a.notify, Calls: a.calls, Catalog: a.catalog, Limits: a.limits, Callbacks: callbacks(), Messaging: a.messaging,
		Ready: func(ctx context.Context) (carillon.Details, error) { return a.readiness.Ready(ctx) }, Log: a.log, Proxies: a.cfg.TrustedProxies, Files: a.files, BaseURL: base, Hooks: a.hooks, Kinds: kinds(),
		Accepted: a.activity.Accepted, People: people,
	})
	addresses := func() (base, widget string) { return a.ready.BaseURL, a.ready.WidgetURL }
	widgets := widgetDeps(a, sessionKey)
	var mailer account.Mailer
	if a.mailer != nil {
		mailer = a.mailer
	}
	var signOn account.SSO
	if a.cfg.OIDCIssuer != "" {
		signOn = sso.New(sso.Options{
			Issuer: a.cfg.OIDCIssuer, ClientID: a.cfg.OIDCClientID, ClientSecret: a.cfg.OIDCClientSecret.Reveal(), Name: a.cfg.OIDCName,
			TrustEmails: a.cfg.OIDCTrustEmail, Log: a.log,
		})
	}
	admin := panel.Routes(panel.Deps{
		Store: a.store, Auth: a.auth, Notify: a.notify, Catalog: a.catalog, Decide: a.sandbox.Decide, Events: a.hub, Calls: a.calls, Conversations: a.conversations, Files: a.files,
		Addresses: addresses, Proxies: a.cfg.TrustedProxies, Search: a.search, Thinker: a.thinker, Pages: a.pages,
		People: people, Kinds: kinds(), Unbuilt: unbuiltResource, Providers: panelProviders(a.whatsapp, a.outward, a.cfg.SIPAllowPrivate), Lines: panelLines{a}, Phone: a.phone, Messages: a.messaging, Mobile: sandboxReplies{a.sandbox}, Limits: a.limits, Shares: a.shares, Jobs: a.bulk, Hooks: a.hooks, Mail: mailer, SSO: signOn, Talks: a.voices, Trials: widgets, Speakers: a.speakers,
	})
	pages, root := panel.Pages(web.Embedded(), addresses)
	documentation := manual.New(manual.Options{OpenAPI: api.OpenAPI(), Pages: docs.Files, Files: web.Embedded(), Base: base})
	return slices.Concat(public, admin, pages, widgetRoutes(a, widgets, root), documentation.Routes())
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
func (a *App) run(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	queueCtx, stopQueue := context.WithCancel(ctx)
	restCtx, stopRest := context.WithCancel(ctx)
	a.stopQueue, a.stopRest = stopQueue, stopRest
	a.work.Go(func() { a.report(a.queue.Run(queueCtx)) })
	a.work.Go(func() { a.report(a.telephone.Run(queueCtx)) })
	for _, run := range []func(context.Context) error{a.auth.Run, a.catalog.Run, a.notify.Run, a.calls.Run, a.sandbox.Run, a.purge.Run, a.hub.Run, a.conversations.Run, a.messaging.Run, a.voices.Run, a.search.Run, a.bulk.Run, a.activity.Run, a.hooks.Run, laidOut{a.store, a.log}.Run} {
		a.rest.Go(func() { a.report(run(restCtx)) })
	}
	if a.mailer != nil {
		a.rest.Go(func() { a.report(a.mailer.Run(restCtx)) })
	}
	engine := a.bus.Run
	if a.store.SQLite() {
		engine = (&control.Control{
			Store: a.store, Folder: a.cfg.Data, Read: ProvisionOptions(), Log: a.log,
			Apply: func(ctx context.Context, p *config.Provision) (store.Summary, error) {
				summary, err := a.apply(ctx, p)
				warnOfNumbers(ctx, a.store, a.log)
				return summary, err
			},
			Warn: func(p *config.Provision) config.Problems { return undeliverable(a.hookServers, p) },
		}).Run
	}
	a.rest.Go(func() { a.report(engine(restCtx)) })
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

// Run starts, serves until ctx ends or a part fails, and stops.
func (a *App) Run(ctx context.Context) error {
	err := a.Start(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		a.log.Info("stop while starting", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	var failure error
	select {
	case <-ctx.Done():
		a.log.Info("stop")
		failure = a.keepServing()
	case failure = <-a.failed:
		a.log.Error("stop because a part failed", "error", failure)
	}
	return errors.Join(failure, a.Stop(context.WithoutCancel(ctx)))
}

// keepServing serves for the shutdown delay while /readyz already fails, so that a load balancer stops sending connections
// before the listener closes. It ends early when a part fails or Stop is called.
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

// Stop drains and closes. It may be called more than once, and takes little more than the shutdown timeout.
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
	requests := make(<-chan error)
	if a.server != nil {
		requests = a.server.Finish(ctx, a.requestsFirst)
	}
	if a.stopQueue != nil {
		a.stopQueue()
		if n := a.calls.UnderWay() + a.incoming.UnderWay(); n > 0 {
			a.log.Info("wait for calls to end", "calls", n, "most", a.cfg.CallDrain.String())
		}
		a.work.Wait()
	}
	if a.server != nil {
		errs = append(errs, <-requests)
	}
	if a.stopQueue != nil {
		a.stopRest()
		errs = append(errs, a.server.CloseOps())
		a.rest.Wait()
	}
	errs = append(errs, closeTelephone(a))
	if a.whatsapp != nil {
		a.whatsapp.CloseIdleConnections()
		a.media.Close()
		a.pages.Close()
		a.engines.Close()
		a.flowServers.Close()
		a.hookServers.Close()
	}
	if a.translator != nil {
		a.translator.Close()
	}
	a.tracing.Close(context.WithoutCancel(ctx))
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.served {
		a.log.Info("stopped")
	}
	return errors.Join(errs...)
}

// drainTime is how long a stop waits for sends in flight.
func (a *App) drainTime() time.Duration { return a.cfg.ShutdownTimeout * 4 / 5 }

// Routes returns all routes, for tests that visit each of them.
func (a *App) Routes() []httpio.Route { return a.router.Routes() }

// BaseURL returns the address of the running program, without a trailing slash.
func (a *App) BaseURL() string { return a.ready.BaseURL }
