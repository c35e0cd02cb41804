package share

import (
	"cmp"
	"slices"
	"sync"
)

// Resource is a resource that a node holds a bounded amount of. A bound of 0 means no bound.
type Resource struct {
	Name    string // value of the metric's label
	Holds   string // plural, as in "at most 4 exports"
	Setting string // the setting that determines Node; may be empty
	Node    int64  // bound of the whole node
	Company int64
	// Visitors is the bound of a company's visitors, lower than Company so that visitors do not lock out the company
	// itself.
	Visitors int64
	Client   int64 // a client's IPv4 address or IPv6 /64 network
	Session  int64 // a visitor, an account or an access key
	// Replaces means that a session at its bound gets a new place in exchange for its oldest, which ends: a phone that
	// lost its network reconnects before the node notices.
	Replaces bool
	Bytes    bool // counted in bytes
	Waits    bool // requests beyond the bound wait instead of being refused
}

// The bounded resources of a node. The bounds keep a company from taking all of a resource, or the waiting order
// favors other companies, so that every company is served.
//
//nolint:gochecknoglobals // read-only
var (
	Bodies = Resource{
		Name: "bodies", Holds: "bytes of bodies that have arrived", Bytes: true,
		Node: 64 << 20, Company: 16 << 20, Visitors: 8 << 20, Client: 8 << 20,
	}
	// EventStreams leave half of the connections to requests. A page of the panel uses up to two, so a session allows
	// ten pages.
	EventStreams = Resource{
		Name: "event_streams", Holds: "event streams, sockets of talks and waiting reads of events", Setting: "half of `--max-connections`",
		Node: 4096, Company: 3072, Visitors: 2048, Client: 512, Session: 20, Replaces: true,
	}
	Talks       = Resource{Name: "talks", Holds: "talks in browsers", Node: 300, Company: 225, Client: 30, Session: 2}
	FileUploads = Resource{
		Name: "file_uploads", Holds: "files on their way in", Node: 32, Company: 24, Visitors: 16, Client: 12, Session: 6,
	}
	ListUploads     = Resource{Name: "list_uploads", Holds: "lists of contacts on their way in", Node: 8, Company: 4, Session: 2}
	DocumentUploads = Resource{
		Name: "document_uploads", Holds: "documents on their way in", Node: 6, Company: 3, Session: 2,
	}
	Exports     = Resource{Name: "exports", Holds: "exports", Node: 8, Company: 4, Session: 2}
	Imports     = Resource{Name: "imports", Holds: "imports of web pages", Node: 8, Company: 4, Session: 4}
	Playgrounds = Resource{Name: "playgrounds", Holds: "answers of playgrounds", Node: 16, Company: 8, Session: 4}
	Listening   = Resource{Name: "listening", Holds: "voices that are listened to", Node: 8, Company: 4, Session: 2}
	TestRuns    = Resource{Name: "test_runs", Holds: "runs of tests of agents", Node: 6, Company: 4, Session: 2}
	TestCalls   = Resource{Name: "test_calls", Holds: "test calls", Node: 8, Company: 4, Session: 2}
	SignIns     = Resource{Name: "sign_ins", Holds: "passwords to check", Node: 257, Client: 64}
	// SIPTransactions are kept for 32 s after their response: a busy trunk holds 64 for each call that begins or ends
	// per second.
	SIPTransactions = Resource{Name: "sip_transactions", Holds: "SIP requests under way", Node: 8192, Company: 6144, Client: 2048}
	// Calls are bounded in total by the limits on placed and incoming calls. A company's bound covers both together.
	Calls          = Resource{Name: "calls", Holds: "telephone calls, placed and taken", Setting: "`--max-calls`", Node: 200, Company: 150}
	SIPConnections = Resource{Name: "sip_connections", Holds: "SIP connections that were accepted", Node: 512, Company: 384, Client: 64}
	TrunkNames     = Resource{Name: "trunk_names", Holds: "names of trunks that are looked up", Node: 32, Company: 8, Waits: true}
	Registrations  = Resource{
		Name: "sip_registrations", Holds: "registrations of lines at trunks that are sent", Node: 32, Company: 8, Waits: true,
	}
	AgentReplies = Resource{Name: "agent_replies", Holds: "answers of agents in chats", Node: 32, Company: 24, Waits: true}
	ReplyQueue   = Resource{Name: "reply_queue", Holds: "chats that wait for an agent's answer", Node: 1000, Company: 250, Waits: true}
	FlowEffects  = Resource{Name: "flow_effects", Holds: "requests of flows", Node: 64, Company: 48, Waits: true}
	ToolCalls    = Resource{Name: "tool_calls", Holds: "calls of agents' tools", Node: 64, Company: 24, Waits: true}
	Inbound      = Resource{Name: "inbound_messages", Holds: "messages of people that are taken in", Node: 16, Company: 12, Waits: true}
	Histories    = Resource{Name: "histories", Holds: "histories of numbers that are imported", Node: 4, Company: 1, Waits: true}
	ChannelSends = Resource{Name: "channel_replies", Holds: "replies that are sent over channels", Node: 16, Company: 12, Waits: true}
	ListJobs     = Resource{Name: "list_jobs", Holds: "lists of contacts that are checked or sent to", Node: 4, Company: 3, Waits: true}
	MediaChecks  = Resource{Name: "media_checks", Holds: "checks of a header's file", Node: 32, Company: 4, Waits: true}
	Lists        = Resource{
		Name: "lists", Holds: "lists of notifications that are read", Setting: "one a processor", Node: 2, Waits: true,
	}
	LinkVisits = Resource{Name: "link_visits", Holds: "visits of counted links", Node: 64, Client: 16, Waits: true}
	Speakers   = Resource{Name: "speakers", Holds: "processes of espeak-ng", Setting: "four a processor", Node: 8, Waits: true}
	Documents  = Resource{Name: "documents", Holds: "documents that become articles", Node: 2, Company: 1, Waits: true}
	Sites      = Resource{Name: "sites", Holds: "sites that are read", Node: 4, Company: 2, Waits: true}
	Reviews    = Resource{Name: "reviews", Holds: "reviews of conversations that are made", Node: 8, Company: 4, Waits: true}
	// QuestionVectors are not waited for: beyond the bound a question is searched by words alone.
	QuestionVectors = Resource{
		Name: "question_vectors", Holds: "questions at embeddings servers, which are else searched by words alone", Node: 64, Company: 24,
	}
	PassageVectors = Resource{Name: "passage_vectors", Holds: "bases whose vectors are made", Node: 4, Company: 2, Waits: true}
	VectorLoads    = Resource{Name: "vector_loads", Holds: "bases whose vectors are read into memory", Node: 4, Company: 2, Waits: true}
	Transcribers   = Resource{Name: "transcribers", Holds: "processes of pocketsphinx", Setting: "one a processor", Node: 2, Waits: true}
)

// Resources lists every bounded resource.
func Resources() []Resource {
	return []Resource{
		Bodies, EventStreams, Talks, FileUploads, ListUploads, DocumentUploads, Exports, Imports, Playgrounds, Listening, TestRuns,
		TestCalls, SignIns, Calls, SIPTransactions,
		SIPConnections, TrunkNames, Registrations, AgentReplies, ReplyQueue, FlowEffects, ToolCalls, Inbound, Histories, ChannelSends,
		ListJobs,
		MediaChecks,
		Lists, LinkVisits, Speakers, Transcribers, Documents, Sites, QuestionVectors, PassageVectors, VectorLoads,
		Reviews,
	}
}

// Of returns the resource with another bound for the node. The bounds of company, visitors and client are scaled
// proportionally, to at least 1. A node below 1 removes all bounds except Session.
func (r Resource) Of(node int64) Resource {
	if node < 1 {
		r.Node, r.Company, r.Visitors, r.Client = 0, 0, 0, 0
		return r
	}
	for _, part := range []*int64{&r.Company, &r.Visitors, &r.Client} {
		if *part > 0 && r.Node > 0 {
			*part = max(1, *part*node/r.Node)
		}
	}
	r.Node = node
	return r
}

func (r Resource) bound(level Level) int64 {
	return [levels]int64{r.Node, r.Company, r.Visitors, r.Client, r.Session}[level]
}

// Set holds the shares of a node. The zero value is ready to use. A nil Set creates separate shares, for parts that
// run alone.
type Set struct {
	mu  sync.Mutex
	all map[string]*Share
}

// Of returns the share of a resource. Every call returns the same one.
func (x *Set) Of(r Resource) *Share {
	if x == nil {
		return New(r)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[r.Name]
	if s == nil {
		s = New(r)
		if x.all == nil {
			x.all = map[string]*Share{}
		}
		x.all[r.Name] = s
	}
	return s
}

// Counts returns the usage of each resource, sorted by name.
func (x *Set) Counts() []Counts {
	x.mu.Lock()
	shares := make([]*Share, 0, len(x.all))
	for _, s := range x.all {
		shares = append(shares, s)
	}
	x.mu.Unlock()
	all := make([]Counts, len(shares))
	for i, s := range shares {
		all[i] = s.Counts()
	}
	slices.SortFunc(all, func(a, b Counts) int { return cmp.Compare(a.Resource.Name, b.Resource.Name) })
	return all
}
