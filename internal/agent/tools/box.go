package tools

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
	"carillon/internal/base/egress"
	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
	"carillon/internal/base/share"
)

// Resources reads a company's tools and secrets. *resources.Store implements it.
type Resources interface {
	Resource(ctx context.Context, companyID string, k resource.Kind, id string) (resource.Resource, error)
	Find(ctx context.Context, k resource.Kind, id string) (x resource.Resource, companyID string, err error)
	SecretUsed(ctx context.Context, companyID, id string, now time.Time) error
}

// Observer is called for each call. It feeds metrics.
type Observer interface {
	Called(kind string, status agent.Status, took time.Duration)
}

type nobody struct{}

func (nobody) Called(string, agent.Status, time.Duration) {}

// Options configure a Box. Resources, Client and Log are required.
type Options struct {
	Resources Resources
	Client    *egress.Client // built by NewClient
	Limits    *limit.Limits  // nil: no rates
	Shares    *share.Set     // nil: a new set
	Observer  Observer       // default: no-op
	Log       *slog.Logger
}

// Box runs the tools of companies' agents. It implements agent.Toolbox.
type Box struct {
	o      Options
	places *share.Share
}

// New returns a Box.
func New(o Options) *Box {
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	return &Box{o, o.Shares.Of(share.ToolCalls)}
}

// NewClient builds the HTTP client for calls of tools. It follows no redirects: they would take the request, with its
// secrets and arguments, to an address that nobody named.
func NewClient(allowed []netip.Prefix) *egress.Client {
	return egress.New(egress.Options{AllowPrivate: allowed, Timeout: maxTimeout * time.Second, MaxBody: maxRead, Redirects: -1})
}

const (
	// maxRead bounds the bytes of a response; each tool has a lower bound for its result. An MCP server's list of tools
	// may need all of them.
	maxRead = 1 << 20

	perMinute        = 20  // calls of a conversation
	companyPerMinute = 600 // calls of a company
	maxWait          = 5 * time.Second
)

// find returns a company's tool. It returns nil if there is none.
func (b *Box) find(ctx context.Context, companyID, id string) (*Tool, error) {
	x, owner, err := b.o.Resources.Find(ctx, Kind(), id)
	if carillon.IsCode(err, carillon.NotFound) || err == nil && owner != companyID {
		return nil, nil
	}
	t, _ := x.(*Tool)
	return t, err
}

// Usable implements agent.Toolbox. Of several tools with the same name, only the first is offered.
func (b *Box) Usable(ctx context.Context, r *agent.Request) (all []agent.ServerTool, err error) {
	names := map[string]bool{}
	for _, client := range r.Tools() {
		names[client.Name] = true
	}
	for _, id := range r.Agent.ServerTools {
		t, err := b.find(ctx, r.CompanyID, id)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		for _, offered := range t.offered() {
			if !names[offered.Name] && len(all) < maxOffers {
				names[offered.Name] = true
				all = append(all, offered)
			}
		}
	}
	return all, nil
}

const maxOffers = 60 // tools that an engine gets

// offered returns the tools that a resource provides.
func (t *Tool) offered() (all []agent.ServerTool) {
	if t.HTTP != nil {
		return []agent.ServerTool{{
			ID: t.ID, Name: t.Name, Title: t.Title, Description: t.Description, Parameters: t.Parameters,
			Schema: agent.SchemaOf(t.Parameters), Phrases: t.Phrases, Changes: t.changes(), Idempotent: t.Idempotent, Confirm: t.Confirm,
		}}
	}
	if t.MCP == nil {
		return nil
	}
	for i := range t.MCP.Tools {
		a := &t.MCP.Tools[i]
		if x := t.mcpTool(a); x != nil {
			all = append(all, *x)
		}
	}
	return all
}

// Run implements agent.Toolbox.
func (b *Box) Run(ctx context.Context, r *agent.Request, offered *agent.ServerTool, c *agent.Call) (agent.Ran, error) {
	began := time.Now()
	t, err := b.find(ctx, r.CompanyID, offered.ID)
	var ran agent.Ran
	switch {
	case err != nil:
		ran = b.broken(ctx, r, offered, err)
	case t == nil:
		ran = refused("The tool no longer exists")
	default:
		if ran, err = b.admitted(ctx, r, t, offered, c); err != nil {
			ran = b.broken(ctx, r, offered, err)
		}
	}
	if ctx.Err() != nil {
		return agent.Ran{}, ctx.Err()
	}
	took := time.Since(began)
	ran.MS = took.Milliseconds()
	kind := "http"
	if offered.Remote != "" {
		kind = "mcp"
	}
	b.o.Observer.Called(kind, ran.Status, took)
	if ran.Status != agent.RanWell && ran.Status != agent.RanNothing {
		b.o.Log.WarnContext(ctx, "call a tool of an agent", "company", r.CompanyID, "agent", r.Agent.ID, "conversation", r.ConversationID,
			"tool", offered.Name, "status", ran.Status, "code", ran.Code, "reason", ran.Reason)
	}
	return ran, nil
}

func refused(reason string) agent.Ran { return agent.Ran{Status: agent.RanRefused, Reason: reason} }

// broken is the result of a call that failed within this program.
func (b *Box) broken(ctx context.Context, r *agent.Request, t *agent.ServerTool, err error) agent.Ran {
	b.o.Log.WarnContext(ctx, "prepare a call of a tool", "company", r.CompanyID, "tool", t.Name, "error", err)
	return refused("The call could not be prepared")
}

// admitted runs a call within the rates and the company's share.
func (b *Box) admitted(ctx context.Context, r *agent.Request, t *Tool, offered *agent.ServerTool, c *agent.Call) (agent.Ran, error) {
	if fault := offered.Fault(c.Arguments); fault != "" {
		return refused(fault), nil
	}
	if err := b.allow(ctx, r); err != nil {
		if carillon.IsCode(err, carillon.RateLimitExceeded) {
			return refused("Too many calls in a minute"), nil
		}
		return agent.Ran{}, err
	}
	wait, cancel := context.WithTimeout(ctx, maxWait)
	place, err := b.places.Wait(wait, share.Holder{Company: r.CompanyID})
	cancel()
	if err != nil {
		return refused("Too many calls are under way"), nil
	}
	defer place.Release()
	values, reason, err := b.secrets(ctx, r.CompanyID, t)
	if reason != "" || err != nil {
		return refused(reason), err
	}
	x := &exchange{
		Box: b, tool: t, offered: offered, call: c, request: r, filling: filling{c.Arguments, values}, redact: secret.NewRedactor(values),
	}
	ctx, cancel = context.WithTimeout(ctx, t.timeout())
	defer cancel()
	if t.MCP != nil {
		return x.mcp(ctx), nil
	}
	return x.http(ctx), nil
}

// timeout bounds a call, including the reading of the response.
func (t *Tool) timeout() time.Duration {
	if t.Timeout == 0 {
		return defaultTimeout * time.Second
	}
	return time.Duration(t.Timeout) * time.Second
}

// bound returns the maximum number of bytes of a response.
func (t *Tool) bound() int {
	if t.MaxResponse == 0 {
		return defaultResponse
	}
	return t.MaxResponse
}

func (b *Box) allow(ctx context.Context, r *agent.Request) error {
	if b.o.Limits == nil {
		return nil
	}
	of := r.ConversationID
	if of == "" { // the playground
		of = r.CompanyID + "/" + r.Agent.ID
	}
	if _, err := b.o.Limits.Allow(ctx, "tools/"+of, perMinute, 1); err != nil {
		return err
	}
	_, err := b.o.Limits.Allow(ctx, "tools/"+r.CompanyID, companyPerMinute, 1)
	return err
}

// secrets returns the values of the tool's secrets, or the reason for not sending them.
func (b *Box) secrets(ctx context.Context, companyID string, t *Tool) (values map[string]string, reason string, err error) {
	values = map[string]string{}
	for _, name := range t.secrets() {
		found, err := b.o.Resources.Resource(ctx, companyID, secret.Kind(), name)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, "The company has no secret " + name, nil
		}
		if err != nil {
			return nil, "", err
		}
		s, ok := found.(*secret.Secret)
		if !ok || !s.For(t.host()) {
			return nil, "The secret " + name + " may not be sent to " + t.host(), nil
		}
		if err := b.o.Resources.SecretUsed(ctx, companyID, name, time.Now()); err != nil {
			return nil, "", err
		}
		values[name] = s.Value
	}
	return values, "", nil
}

// exchange is one call.
type exchange struct {
	*Box
	tool    *Tool
	offered *agent.ServerTool
	call    *agent.Call
	request *agent.Request
	filling filling
	redact  *secret.Redactor
}

// failed returns the result of a call whose request failed.
func (x *exchange) failed(err error) agent.Ran { return x.faulty(reasonOf(err), sent(err)) }

// faulty returns the result of a call without a usable response. happened means that a change may have happened.
func (x *exchange) faulty(reason string, happened bool) agent.Ran {
	ran := agent.Ran{Status: agent.RanFailed, Reason: x.redact.Text(reason)}
	if x.offered.Changes && happened {
		ran.Status = agent.RanUnknown
	}
	return ran
}

// sent reports whether a request that failed may have reached the server.
func sent(err error) bool {
	var denied *egress.DeniedError
	var dial *net.OpError
	var name *net.DNSError
	return !errors.As(err, &denied) && !errors.As(err, &name) && (!errors.As(err, &dial) || dial.Op != "dial")
}

// reasonOf returns an error's text for the administrator.
func reasonOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "The server did not respond in time"
	case errors.Is(err, egress.ErrBodyTooLarge), errors.Is(err, errTooLarge):
		return "The response is too large"
	}
	return "No response: " + err.Error()
}

var errTooLarge = errors.New("the response is too large")

// values returns the arguments as texts for the placeholders of sentences.
func (x *exchange) values() map[string]string {
	all := make(map[string]string, len(x.call.Arguments))
	for name := range x.call.Arguments {
		all[name] = x.offered.Shown(x.request, name, x.call.Arguments[name])
	}
	return all
}
