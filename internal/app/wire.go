package app

import (
	"context"
	"crypto/tls"
	netmail "net/mail"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/account/activity"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/account/push"
	"carillon/internal/agent"
	"carillon/internal/agent/document"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/agent/openai"
	"carillon/internal/agent/review"
	"carillon/internal/agent/site"
	"carillon/internal/agent/tools"
	"carillon/internal/agent/translate"
	"carillon/internal/agent/trial"
	"carillon/internal/base/config"
	"carillon/internal/base/cpu"
	"carillon/internal/base/egress"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/base/tracing"
	"carillon/internal/call"
	"carillon/internal/call/handset"
	"carillon/internal/call/rtp"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/control"
	"carillon/internal/edge/ops"
	"carillon/internal/edge/widget"
	"carillon/internal/event/hook"
	"carillon/internal/event/realtime"
	"carillon/internal/event/relay"
	"carillon/internal/queue"
	"carillon/internal/send/bulk"
	"carillon/internal/send/catalog"
	"carillon/internal/send/link"
	"carillon/internal/send/notify"
	"carillon/internal/send/sandbox"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/company"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/purge"
	"carillon/internal/store/settings"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/effect"
	"carillon/internal/talk/files"
	"carillon/internal/talk/history"
	"carillon/internal/talk/messaging"
	"carillon/internal/talk/notice"
	"carillon/internal/voice"
	"carillon/internal/voice/speech"
)

const (
	maxPage           = 2 << 20 // bytes of a page that becomes an article
	maxEngineResponse = 4 << 20 // bytes of a response of an agent's engine
	engineTimeout     = 45 * time.Second
)

// parts are the components of all packages, built from the store up.
type parts struct {
	limits *limit.Limits
	auth   *auth.Auth
	mailer *mail.Mailer // nil disables e-mail
	push   *push.Pusher

	queue       *queue.Queue
	bus         *realtime.Bus
	relay       *relay.Relay // nil without NATS
	hub         *realtime.Hub
	hooks       *hook.Deliverer
	hookServers *egress.Client
	activity    *activity.Recorder
	observer    ops.Observer

	whatsapp *whatsapp.Client
	sandbox  *sandbox.Channel
	catalog  *catalog.Catalog
	notify   *notify.Notify
	bulk     *bulk.Jobs

	search     *knowledge.Search
	vectors    *meaning.Vectors
	toolbox    *tools.Box
	engines    *egress.Client // requests the engines of agents
	pages      *egress.Client // downloads pages that become articles
	documents  *document.Reader
	sites      *site.Looks
	thinker    agent.Thinker
	reviewer   review.Engine
	tests      trial.Runner
	translator *translate.Client // nil disables translation

	files         *files.Files
	conversations *conversation.Conversations
	notices       *notice.Notices
	messaging     *messaging.Messaging
	history       *history.History
	speakers      map[string]voice.Speaker
	voices        *voice.Sessions

	incoming  *call.Incoming
	calls     *call.Calls
	phone     *handset.Phone
	sip       *sip.Engine
	unheard   rtp.Refused // counts audio packets that calls rejected
	telephone *telephone.Telephone
}

// wire builds the parts.
func (a *App) wire(ctx context.Context, tracer *tracing.Tracing) (*parts, error) {
	p := &parts{observer: ops.Observer{Metrics: a.metrics, Tracing: tracer}}
	if err := p.wireAccounts(a); err != nil {
		return nil, err
	}
	if err := p.wireEvents(a); err != nil {
		return nil, err
	}
	if err := p.wireSending(a); err != nil {
		return nil, err
	}
	p.wireThinking(a)
	if err := p.wireTalking(a); err != nil {
		return nil, err
	}
	if err := p.wireCalls(ctx, a); err != nil {
		return nil, err
	}
	p.queue.OnDeposed(p.notify.Sweep, p.conversations.Deposed, p.messaging.Deposed, p.history.Deposed)
	p.sandbox.ReportTo(p.reports(a))
	a.readiness = ops.NewReadiness(a.log, ops.Conditions{
		Store: a.store, Queue: p.queue, Stopping: a.stopping, KeyOpen: a.cfg.MasterKeyOpen,
	})
	old := purge.New(a.store.Purges, a.store.Accounts, purge.Options{Step: a.metrics.Purged, Backlog: a.metrics.Backlog, Log: a.log})
	a.background = append(a.background,
		p.auth.Run, p.catalog.Run, p.notify.Run, p.calls.Run, p.sandbox.Run, old.Run, p.hub.Run, p.conversations.Run, p.notices.Run,
		p.messaging.Run, p.history.Run, a.checkFile,
		p.voices.Run, p.search.Run, p.vectors.Run, p.sites.Run, p.bulk.Run, p.activity.Run, p.hooks.Run,
		effect.Flows{Store: a.store, Log: a.log}.Run, p.engineWork(a),
	)
	if p.mailer != nil {
		a.background = append(a.background, p.mailer.Run)
	}
	return p, p.route(a)
}

// checkFile looks for damage to SQLite's file.
func (a *App) checkFile(ctx context.Context) error { return a.store.Integrity.Run(ctx, a.log) }

// engineWork returns the background work of the database engine: the bus between nodes on PostgreSQL, the control
// socket on SQLite.
func (p *parts) engineWork(a *App) func(context.Context) error {
	if !a.store.DB.SQLite() {
		return p.bus.Run
	}
	return (&control.Control{
		Store: a.store, Folder: a.cfg.Data, Read: ProvisionOptions(), Log: a.log, Move: a.askedToMove,
		Company: company.New(a.store, Version()).Do,
		Apply: func(ctx context.Context, set *config.Provision) (store.Summary, error) {
			summary, err := a.apply(ctx, p, set)
			telephone.WarnOfNumbers(ctx, a.store, a.log)
			return summary, err
		},
		Warn: func(set *config.Provision) config.Problems { return hook.Unreached(p.hookServers, set) },
	}).Run
}

func (p *parts) wireAccounts(a *App) (err error) {
	p.limits = limit.New(a.store.Rates, a.log)
	if a.o.Now != nil {
		p.limits.Now = a.o.Now
	}
	p.auth = auth.New(a.store, p.limits, authOptions(a.cfg, a.o.Processors, a.log, a.shares))
	p.activity = activity.New(a.store.APICalls, activity.Options{Kept: a.metrics.Kept, Dropped: a.metrics.Dropped, Log: a.log})
	if a.cfg.SMTPURL != "" {
		p.mailer, err = mail.New(mail.Options{URL: a.cfg.SMTPURL.Reveal(), From: a.cfg.MailFrom, Log: a.log})
	}
	services := push.NewClient(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate})
	a.onClose(services.Close)
	p.push = push.New(push.Options{Notices: a.store.Notices, Client: services, Contact: a.pushContact})
	return err
}

// wireEvents builds the parts that carry events to other nodes, screens and endpoints, and the queue, which uses the
// bus.
func (p *parts) wireEvents(a *App) error {
	host, _ := os.Hostname()
	o := queue.Options{Log: a.log, Name: host, Events: a.cfg.EventsOnly}
	p.whatsapp = whatsapp.New(whatsapp.Options{
		Egress: egress.New(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate, MaxBody: -1, Timeout: 30 * time.Second}),
	})
	a.onClose(p.whatsapp.CloseIdleConnections)
	p.bus = realtime.NewBus(a.store.DB, a.log)
	var others func(kind string, items ...realtime.Item)
	if !a.store.DB.SQLite() {
		others = p.bus.Publish
		o.Bus, o.Lapsed = realtime.Nodes{Bus: p.bus}, p.whatsapp.CloseIdleConnections
	}
	p.queue = queue.New(a.store, o)
	p.hub = realtime.NewHub(a.store.Topics, a.log, others)
	if err := p.wireRelay(a); err != nil {
		return err
	}
	p.bus.Add(p.hub.Kind())
	realtime.Nodes{Bus: p.bus}.Receive(p.queue)
	p.hookServers = hook.NewClient(a.cfg.MediaAllowPrivate)
	a.onClose(p.hookServers.Close)
	owners := hook.Owners{Store: a.store, Mailer: p.mailer, BaseURL: a.BaseURL, Log: a.log}
	p.hooks = hook.NewDeliverer(a.store, hook.Options{
		Client: p.hookServers, Owns: p.queue.OwnsEvents, Alert: owners.Alert, Attempted: a.metrics.HookAttempted, Suspended: a.suspended,
		Busy: new(cpu.Watch).Busy, Log: a.log,
	})
	a.store.Events.OnEvents(func(all ...*events.Event) {
		p.hub.Publish(all...)
		var companies []string
		for i, e := range all {
			if i == 0 || e.CompanyID != all[i-1].CompanyID {
				companies = append(companies, e.CompanyID)
			}
		}
		p.hooks.Wake(companies...)
	})
	return nil
}

// wireRelay connects the hub with those of the other nodes, over NATS if the settings name servers.
func (p *parts) wireRelay(a *App) error {
	defer func() { a.metrics.Registry.MustRegister(relay.Metrics{Bus: p.bus, Relay: p.relay}) }()
	switch {
	case a.store.DB.SQLite():
		return nil
	case a.cfg.NATSURL == "":
		p.hub.Join(p.bus, nil)
		p.bus.Add(relay.Absent(carillon.NewID(time.Now()), p.bus.Publish))
		return nil
	}
	key, err := a.store.Sealer.Derive("messages between nodes")
	if err != nil {
		return err
	}
	p.relay, err = relay.New(relay.Options{
		URL: a.cfg.NATSURL.Reveal(), Credentials: a.cfg.NATSCredentials, CA: a.cfg.NATSCA, Key: key, Announce: p.bus.Publish, Log: a.log,
	})
	if err != nil {
		return err
	}
	p.hub.Join(p.bus, p.relay)
	p.bus.Add(p.relay.Kind())
	a.background = append(a.background, p.relay.Run)
	return nil
}

// maxUnreachable bounds the number of unreachable sandbox phones of all companies.
const maxUnreachable = 10_000

func (p *parts) wireSending(a *App) error {
	linkKey, err := a.store.Sealer.Derive(configure.CountedLinks)
	if err != nil {
		return err
	}
	links, err := link.NewCodecs(a.store.Config, linkKey)
	if err != nil {
		return err
	}
	phones := a.store.Phones
	p.sandbox = sandbox.New(sandbox.Options{
		Logger: a.log,
		Unreachable: func(ctx context.Context) ([]sandbox.Recipient, error) {
			all, err := phones.Unreachable(ctx, maxUnreachable)
			recipients := make([]sandbox.Recipient, len(all))
			for i, x := range all {
				recipients[i] = sandbox.Recipient{SenderUID: x.SenderUID, Number: x.Number}
			}
			return recipients, err
		},
		Marked: func(ctx context.Context, s *carillon.Sender, number string, typingUntil time.Time) error {
			return phones.MarkPhone(ctx, s.CompanyID, s.UID, number, time.Now(), typingUntil)
		},
	})
	reviewers := map[string]catalog.Reviewer{"whatsapp": p.whatsapp, "sandbox": p.sandbox}
	p.catalog = catalog.New(a.store, reviewers, catalog.Options{Logger: a.log})
	media := egress.NewProber(egress.Options{AllowPrivate: a.cfg.MediaAllowPrivate}, a.shares)
	a.onClose(media.Close)
	p.notify = notify.New(a.store, p.queue, notify.Options{
		Senders:   p.observer.Senders(map[string]notify.Sender{"whatsapp": p.whatsapp, "sandbox": p.sandbox}),
		Portfolio: portfolioOf, Links: links,
		Denied: a.cfg.CallsDenied, Media: media, Templates: p.catalog, Observer: p.observer, Drain: a.drainTime(), Log: a.log,
	})
	p.catalog.OnApproved(p.notify.Release)
	host, _ := os.Hostname()
	p.bulk = bulk.New(bulk.Options{
		Store: a.store, Notifications: bulk.Accepting{Store: a.store, Notify: p.notify, Limits: p.limits}, Shares: a.shares,
		Node: host + "/" + strconv.Itoa(os.Getpid()), Observer: a.metrics.Files, Log: a.log,
	})
	return nil
}

// reports returns the handlers for later events of the sandbox. Receipts in one call belong to one sender.
func (p *parts) reports(a *App) sandbox.Reports {
	return sandbox.Reports{
		Receipts: func(ctx context.Context, rs []provider.Receipt) error {
			if len(rs) == 0 {
				return nil
			}
			s, err := a.store.Senders.Sender(ctx, rs[0].SenderUID)
			if err != nil {
				return err
			}
			return p.notify.Receive(ctx, s, rs)
		},
		Replies: func(ctx context.Context, senderUID int64, rs []provider.ReplyReceipt) error {
			s, err := a.store.Senders.Sender(ctx, senderUID)
			if err != nil {
				return err
			}
			return p.messaging.Receipts(ctx, s, rs)
		},
		Templates: func(ctx context.Context, e provider.TemplateEvent) error {
			return p.catalog.Apply(ctx, []provider.TemplateEvent{e})
		},
	}
}

func (p *parts) wireThinking(a *App) {
	private := a.cfg.MediaAllowPrivate
	embedders := meaning.NewClient(egress.Options{AllowPrivate: private})
	a.onClose(embedders.Close)
	vectors := func(s *store.Store) *meaning.Vectors {
		return meaning.New(meaning.Options{
			Store: s.Vectors, Resources: s.Resources, Client: embedders, Suspended: a.suspended, Shares: a.shares,
			Observer: a.metrics.Meaning, Node: p.queue.ID(), Alone: s.DB.SQLite(), Log: a.log,
		})
	}
	p.vectors = vectors(a.store)
	p.search = knowledge.NewSearch(a.store.Resources, a.log).With(p.vectors)
	p.engines = egress.New(egress.Options{AllowPrivate: private, Timeout: engineTimeout, MaxBody: maxEngineResponse, Redirects: -1})
	a.onClose(p.engines.Close)
	think := func(search *knowledge.Search) *openai.Thinker {
		return openai.New(openai.Options{
			Client: p.engines, Builtin: agent.NewBuiltin(search), Search: search, Log: a.log,
			Allow: agent.EngineTurns{Companies: a.store.Accounts, Limits: p.limits}.Allow,
		})
	}
	thinker := think(p.search)
	p.thinker, p.reviewer = thinker, thinker
	servers := tools.NewClient(private)
	a.onClose(servers.Close)
	p.toolbox = tools.New(tools.Options{
		Resources: a.store.Resources, Client: servers, Limits: p.limits, Shares: a.shares, Observer: a.metrics.Chat, Log: a.log,
	})
	p.tests = trial.Runner{
		Tester: trial.Tester{Thinker: thinker, Judge: thinker, Tools: p.toolbox}, Store: a.store,
		Thinking: func(s *knowledge.Search) agent.Thinker { return think(s) }, Vectors: vectors,
	}
	p.pages = egress.New(egress.Options{AllowPrivate: private, MaxBody: maxPage})
	a.onClose(p.pages.Close)
	web := site.NewClient(egress.Options{AllowPrivate: private})
	a.onClose(web.Close)
	p.sites = site.New(site.Options{
		Store: a.store, Client: web, Suspended: a.suspended, Shares: a.shares, Node: p.queue.ID(), Alone: a.store.DB.SQLite(), Log: a.log,
	})
	p.documents = document.New(a.shares)
	if err := p.documents.Available(); err != nil {
		a.log.Warn("run without pdftotext: PDFs do not become articles; install poppler-utils")
	}
	if a.cfg.TranslateURL != "" {
		p.translator = translate.New(translate.Options{URL: a.cfg.TranslateURL, Key: a.cfg.TranslateKey.Reveal(), Log: a.log})
		a.onClose(p.translator.Close)
	}
}

func (p *parts) wireTalking(a *App) error {
	s := a.store
	p.files = files.New(s.Files, files.Options{
		Most: int64(a.cfg.FileSize) << 20, Company: int64(a.cfg.CompanyFiles) << 20, Keys: s.Config.Derived,
		Suspended: a.withheld, Shares: a.shares,
	})
	flowServers := effect.NewClient(a.cfg.MediaAllowPrivate)
	a.onClose(flowServers.Close)
	p.conversations = conversation.New(conversation.Options{
		Store: s, Agents: agent.Stored{Store: s}, Thinker: p.thinker, Toolbox: p.toolbox, Publisher: p.hub, Observer: a.metrics.Chat,
		Flows: effect.Flows{Store: s, Log: a.log}, Effects: effect.Effects{Store: s, Notify: p.notify, Client: flowServers}, Runs: s.Runs,
		Suspended: a.suspended, Reviewer: p.reviewer, Questions: s.Questions, Shares: a.shares, Alone: s.DB.SQLite(), Node: p.queue.ID(),
		Mails: p.mailer != nil, Log: a.log,
	})
	p.notices = notice.New(p.noticeOptions(a))
	p.messaging = messaging.New(p.messagingOptions(a))
	p.history = history.New(p.historyOptions(a))
	p.speakers = speech.Speakers(p.engines, a.shares)
	if !speech.Espeaks() {
		a.log.Warn("run without espeak-ng: agents are silent in voice widgets, unless they have a speech server")
	}
	var nodes voice.Nodes
	if !s.DB.SQLite() {
		nodes = s.DB
	}
	var fast realtime.Relay
	if p.relay != nil {
		fast = p.relay
	}
	p.voices = voice.NewSessions(voice.Options{
		Nodes: nodes, Relay: fast, Shares: a.shares, Dialogue: conversation.NewAloud(p.conversations), Topics: p.hub,
		Observer: a.metrics.Voice,
		Speakers: p.speakers, Transcribers: speech.Transcribers(p.engines, a.shares), Fallback: speech.Fallback,
		Detector: voice.NewDetector, Log: a.log,
	})
	return nil
}

func (p *parts) noticeOptions(a *App) notice.Options {
	o := notice.Options{
		Store: a.store, Push: p.push, Limits: p.limits, Publisher: p.hub, BaseURL: a.BaseURL, Suspended: a.suspended, Log: a.log,
		Origins: widget.Origins(a.store.Resources),
	}
	if p.mailer != nil {
		o.Mailer = p.mailer
	}
	return o
}

// pushContact returns the address at which push services reach the operator: the installation's, or else the sender's of
// e-mails.
func (a *App) pushContact() string {
	base := a.BaseURL()
	from, err := netmail.ParseAddress(a.cfg.MailFrom)
	if strings.HasPrefix(base, "https://") || err != nil {
		return base
	}
	return from.Address
}

func (p *parts) messagingOptions(a *App) messaging.Options {
	s := a.store
	return messaging.Options{
		Store: s.Replies, Chats: s.Chats, Contacts: s.Contacts, Conversations: p.conversations, Agents: agent.Stored{Store: s},
		Files: p.files, Shares: a.shares,
		Channels: map[string]messaging.Channel{"whatsapp": p.whatsapp, "sandbox": p.sandbox}, Sender: s.Senders.Sender,
		Senders: s.Senders.SendersNamed, Portfolio: portfolioOf,
		Bound: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, replyTo string) ([]*chats.Bound, error) {
			return notify.Bound(ctx, s, x.CompanyID, x.UID, lines, replyTo, time.Now())
		},
		Replied: p.notify.Replied,
		Sent: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, providerID string) (string, error) {
			return notify.SentAs(ctx, s, x.CompanyID, x.UID, lines, providerID, time.Now())
		},
		Proved: func(ctx context.Context, x *carillon.Sender, lines []identity.Key, providerID string) (bool, error) {
			return notify.Proved(ctx, p.notify, x, lines, providerID)
		},
		Begun: s.Runs.Begun,
		Suppress: func(ctx context.Context, companyID string, addresses ...string) error {
			return s.Suppressions.Suppress(ctx, companyID, settings.SuppressAll, "asked in a message", time.Now(), addresses...)
		},
		Lift: func(ctx context.Context, companyID string, who identity.Key) error {
			_, err := s.Suppressions.Unsuppress(ctx, companyID, who)
			return err
		},
		Suppressed: func(ctx context.Context, companyID string, who identity.Key) (bool, error) {
			found, err := s.Suppressions.Suppressed(ctx, companyID, carillon.Marketing, []identity.Key{who})
			return found[who], err
		},
		FileURL: func(ctx context.Context, companyID string, f *chats.File) (string, error) {
			signed, err := p.files.Signed(ctx, companyID, f, a.BaseURL(), time.Now())
			if err != nil {
				return "", err
			}
			return signed.URL, nil
		},
		Publisher: p.hub, Observer: a.metrics.Chat, Log: a.log, Alone: s.DB.SQLite(), Node: p.queue.ID(),
	}
}

func (p *parts) historyOptions(a *App) history.Options {
	s := a.store
	agents := agent.Stored{Store: s}
	return history.Options{
		Store: s.Past, Contacts: s.Contacts, Files: p.files, Channels: map[string]messaging.Channel{"whatsapp": p.whatsapp},
		Read: func(x *carillon.Sender, part provider.HistoryPart) (provider.History, error) {
			return whatsapp.ReadHistory(x.Number, part)
		},
		Sender: s.Senders.Sender,
		AgentOf: func(ctx context.Context, x *carillon.Sender) (id, language string, err error) {
			if id = messaging.AgentOf(x); id == "" {
				return "", "", nil
			}
			found, _, err := agents.TalkingAgent(ctx, x.CompanyID, id)
			if carillon.IsCode(err, carillon.NotFound) {
				return "", "", nil
			}
			if err != nil {
				return "", "", err
			}
			return id, found.Language, nil
		},
		Portfolio: portfolioOf, Shares: a.shares, Log: a.log, Alone: s.DB.SQLite(), Node: p.queue.ID(),
	}
}

// wireCalls builds the parts that place and accept calls: the SIP user agent of this node, and the sandbox's phone.
func (p *parts) wireCalls(ctx context.Context, a *App) error {
	of := share.Calls.Of(int64(a.cfg.MaxCalls))
	of.Node = 0 // the queue bounds outgoing calls, and the telephone the total
	places := a.shares.Of(of)
	p.incoming = call.NewIncoming(a.store, p.queue, places, a.log)
	p.queue.OnDrained(p.incoming.Wait)
	p.calls = call.New(a.store, p.queue, call.Options{
		Incoming: p.incoming, Observer: a.metrics, Drain: a.cfg.CallDrain, Most: a.cfg.MaxCalls, Share: places, Log: a.log,
	})
	certificate, err := sip.Files(a.cfg.SIPCertificate, a.cfg.SIPKey)
	if err != nil {
		return err
	}
	if p.phone, err = handset.Open(ctx, sandbox.Delays{}, sip.Options{TLSFiles: certificate, Log: a.log}); err != nil {
		return err
	}
	a.onStop(func(context.Context) error { return p.phone.Close() })
	var opened atomic.Pointer[telephone.Telephone]
	take := func(in *sip.Incoming) {
		if t := opened.Load(); t != nil {
			t.Take(in)
		} else {
			in.Refuse(503, "Service Unavailable")
		}
	}
	if p.sip, err = sip.New(ctx, p.sipOptions(a, certificate, take)); err != nil {
		return err
	}
	a.onStop(func(context.Context) error { return p.sip.Close() })
	p.telephone = telephone.New(telephone.Options{
		Engine: p.sip, Trunks: telephone.TrunksWith(p.phone), Voices: p.voices, Conversations: p.conversations,
		Agents: agent.Stored{Store: a.store}, Files: p.files, Suppress: telephone.Suppress(a.store), Lines: a.store.Senders.LinesByNumber,
		Owner: a.store.Senders.NumberOwner, Suspended: a.suspended, Incoming: p.incoming, Drain: a.cfg.CallDrain, Placed: p.calls.UnderWay,
		Most: a.cfg.MaxCalls, Denied: a.cfg.CallsDenied, Log: a.log,
		WhatsApp: telephone.WhatsApp{
			Sender: a.messagingSender, Known: p.messaging.Known, Permission: whatsapp.CallsOf(p.whatsapp).Permission,
			Called: p.messaging.Called,
		},
	})
	opened.Store(p.telephone)
	p.calls.DialBy(map[string]call.Dialer{"sandbox": p.telephone, "sip": p.telephone})
	return nil
}

func (p *parts) sipOptions(a *App, certificate *tls.Config, take func(*sip.Incoming)) sip.Options {
	return sip.Options{
		OnCall: take, Address: a.cfg.SIPAddr, TLS: a.cfg.SIPTLSAddr, TLSFiles: certificate, External: a.cfg.SIPExternal,
		Ports: a.cfg.SIPPorts, AllowPrivate: a.cfg.SIPAllowPrivate, Lines: telephone.StoredLines(a.store), Owns: p.queue.Owns,
		Shares:  a.shares,
		Unheard: &p.unheard, Log: a.log,
	}
}
