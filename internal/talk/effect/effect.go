// Package effect performs the actions of flows outside their conversations: it sends templates, places calls and
// requests servers. It also finds the flows of companies.
package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/base/secret"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

const (
	maxResponse = 256 << 10 // bytes of a response to a flow's request
	timeout     = 20 * time.Second
)

// NewClient builds the HTTP client for requests of flows. It follows no redirects.
func NewClient(allowed []netip.Prefix) *egress.Client {
	return egress.New(egress.Options{AllowPrivate: allowed, Timeout: timeout, MaxBody: maxResponse, Redirects: -1})
}

// Flows finds the flows of companies.
type Flows struct {
	Store *store.Store
	Log   *slog.Logger
}

// Run refreshes the stored heads of flows that another version of the program wrote.
func (l Flows) Run(ctx context.Context) error {
	if err := l.Store.Resources.RefreshHeads(ctx, flow.Kind()); err != nil && ctx.Err() == nil {
		l.Log.WarnContext(ctx, "refresh what lists show of flows", "error", err)
	}
	return nil
}

// Flows implements conversation.Flows.
func (l Flows) Flows(ctx context.Context, companyID string) ([]flow.Listed, error) {
	heads, err := l.Store.Resources.Heads(ctx, companyID, flow.Kind())
	if err != nil {
		return nil, err
	}
	flows := make([]flow.Listed, 0, len(heads))
	for _, h := range heads {
		if head, ok := h.Value.(*flow.Head); ok {
			flows = append(flows, flow.Listed{ID: h.ID, Name: h.Name, Head: head})
		}
	}
	slices.SortStableFunc(flows, func(a, b flow.Listed) int { return strings.Compare(a.Name, b.Name) })
	return flows, nil
}

// Flow implements conversation.Flows.
func (l Flows) Flow(ctx context.Context, companyID, id string) (*flow.Flow, error) {
	x, err := l.Store.Resources.Resource(ctx, companyID, flow.Kind(), id)
	f, _ := x.(*flow.Flow)
	return f, err
}

// Effects performs the actions of flows outside their conversations.
type Effects struct {
	Store  *store.Store
	Notify *notify.Notify
	Client *egress.Client // built by NewClient
}

// Do implements conversation.Effects.
func (x Effects) Do(ctx context.Context, who conversation.EffectFor, e *flow.Effect) (flow.Values, string, bool, error) {
	if e.HTTP != nil {
		return x.request(ctx, who, e)
	}
	contact := map[string]string{"number": who.Contact.Number}
	switch {
	case who.Contact.Number != "":
	case e.SendTemplate == nil:
		return nil, "The contact's number is not known: calls need one", true, nil
	case who.Contact.UserID == "":
		return nil, "Neither the contact's number nor the channel's id of the contact is known: templates need one", true, nil
	default:
		contact = map[string]string{"user_id": who.Contact.UserID}
	}
	if first, last, _ := strings.Cut(who.Contact.Name, " "); first != "" {
		contact["first_name"] = first
		if last != "" {
			contact["last_name"] = last
		}
	}
	if t := e.SendTemplate; t != nil {
		sender, why, err := x.sender(ctx, who.CompanyID, carillon.Messaging, t.Sender)
		if why != "" || err != nil {
			return nil, why, why != "", err
		}
		push := make(map[string]string, len(t.Variables))
		for key, value := range t.Variables {
			value = strings.Join(strings.Fields(value), " ")      // the channel refuses line breaks in a template
			if push[key] = value; strings.Contains(value, "{{") { // text of a contact must not act as a placeholder
				name := "flow_" + key
				push[key], contact[name] = "{{"+name+"}}", value
			}
		}
		values, detail, refused, err := x.accept(ctx, who, sender, &request.Draft{
			Contact: contact, Sender: sender.ID, Template: t.Name, Language: t.Language, Type: cmp.Or(t.Type, "utility"),
			Campaign: cmp.Or(t.Campaign, "flow"), Components: push,
		})
		if refused {
			detail = fmt.Sprintf("The template %s (%s): %s", t.Name, t.Language, detail)
		}
		return values, detail, refused, err
	}
	c := e.PlaceCall
	line, why, err := x.sender(ctx, who.CompanyID, carillon.Voice, c.Line)
	if why != "" || err != nil {
		return nil, why, why != "", err
	}
	return x.accept(ctx, who, line, &request.Draft{
		Contact: contact, Sender: line.ID, AgentID: c.Agent, Type: "transactional", Campaign: cmp.Or(c.Campaign, "flow"),
	})
}

// sender returns the company's sender of a name for a channel, or the default one if the name is empty. why is the
// reason if there is none. A notification request with an unknown name falls back to the default sender; a flow must
// never send from another number, so it resolves the name itself.
func (x Effects) sender(
	ctx context.Context, companyID string, ch carillon.Channel, name string,
) (s *carillon.Sender, why string, err error) {
	if name == "" {
		if s, err = x.Store.Senders.DefaultSender(ctx, companyID, ch); err == nil && s == nil {
			why = fmt.Sprintf("The company has no default %s sender", ch)
		}
		return s, why, err
	}
	named, err := x.Store.Senders.SendersNamed(ctx, companyID, name)
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(named, func(s *carillon.Sender) bool { return s.Channel == ch })
	if i < 0 {
		return nil, fmt.Sprintf("The company has no %s sender %s", ch, carillon.Shorten(name)), nil
	}
	return named[i], "", nil
}

// accept submits a notification from a sender. The effect's key makes it idempotent.
func (x Effects) accept(
	ctx context.Context, who conversation.EffectFor, by *carillon.Sender, d *request.Draft,
) (flow.Values, string, bool, error) {
	company, err := x.Store.Accounts.Company(ctx, who.CompanyID)
	if err != nil {
		return nil, "", false, err
	}
	d.Channel = by.Channel
	var accepted notify.Response
	req, err := request.New(d, time.Now())
	if err == nil {
		accepted, err = x.Notify.Accept(ctx, &notify.Submission{
			Company: company, Request: req, Sender: by, Route: "flow", IdempotencyKey: who.Key, Hash: who.Key,
		})
	}
	var known *carillon.Error
	switch {
	case errors.As(err, &known) && known.Code != carillon.ServiceUnavailable:
		return nil, known.Message + reasonOf(known), true, nil
	case err != nil:
		return nil, "", false, err
	}
	return flow.Values{"notification_id": accepted.ID}, "Accepted as " + accepted.ID, false, nil
}

// reasonOf returns the reason in an error's details, or "".
func reasonOf(e *carillon.Error) string {
	for _, d := range e.Details {
		if d.Key == "reason" {
			return fmt.Sprint(": ", d.Value)
		}
	}
	return ""
}

// request sends an HTTP request. The flow continues whatever the outcome, since it can check the status; only a secret
// that the company does not have, or that may not be sent to that host, fails the run.
func (x Effects) request(ctx context.Context, who conversation.EffectFor, e *flow.Effect) (flow.Values, string, bool, error) {
	secrets, refusal, err := x.secretsFor(ctx, who.CompanyID, e)
	if refusal != "" || err != nil {
		return nil, refusal, refusal != "", err
	}
	values, detail := x.ask(ctx, who, e, e.Request(secrets))
	redact := secret.NewRedactor(secrets)
	for name, value := range values {
		values[name] = redact.Text(value)
	}
	return values, redact.Text(detail), false, nil
}

// secretsFor returns the values of a request's secrets, or the reason for not sending them.
func (x Effects) secretsFor(ctx context.Context, companyID string, e *flow.Effect) (values map[string]string, refusal string, err error) {
	values = map[string]string{}
	u, err := url.Parse(e.HTTP.URL)
	for _, name := range e.Secrets() {
		if err != nil {
			return nil, "The address is none", nil //nolint:nilerr // the refusal of a run
		}
		found, err := x.Store.Resources.Resource(ctx, companyID, secret.Kind(), name)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, "The company has no secret " + name, nil
		}
		if err != nil {
			return nil, "", err
		}
		s, ok := found.(*secret.Secret)
		if !ok || !s.For(u.Hostname()) {
			return nil, "The secret " + name + " may not be sent to " + u.Hostname(), nil
		}
		if err := x.Store.Resources.SecretUsed(ctx, companyID, name, time.Now()); err != nil {
			return nil, "", err
		}
		values[name] = s.Value
	}
	return values, "", nil
}

// ask sends a request. It returns the variables from the response and a description of the outcome.
func (x Effects) ask(ctx context.Context, who conversation.EffectFor, e *flow.Effect, h *flow.HTTP) (flow.Values, string) {
	if len(h.Body) >= flow.MaxFilled {
		return e.Values(flow.OutcomeFailed), "The body is too large: with its values it has 256 KiB or more"
	}
	var body io.Reader
	if h.Body != "" {
		body = strings.NewReader(h.Body)
	}
	r, err := http.NewRequestWithContext(ctx, h.Method, h.URL, body)
	if err != nil {
		return e.Values(flow.OutcomeFailed), "The address is none"
	}
	r.Header.Set("Accept", "application/json")
	if h.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("User-Agent", "Carillon")
	r.Header.Set("Idempotency-Key", who.Key)
	for name, value := range h.Headers {
		r.Header.Set(name, value)
	}
	began := time.Now()
	resp, err := x.Client.Do(r)
	if err != nil {
		return e.Values(flow.OutcomeFailed), "No response: " + err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	values := e.Values(fmt.Sprint(resp.StatusCode))
	detail := fmt.Sprintf("%d in %d ms", resp.StatusCode, time.Since(began).Milliseconds())
	if err != nil {
		return values, detail + ", and the response could not be read: " + err.Error()
	}
	if len(h.Save) == 0 {
		return values, detail
	}
	decoded, err := flow.Decode(text)
	if err != nil {
		return values, detail + ", and " + err.Error()
	}
	for name, path := range h.Save {
		values[name] = flow.Pick(decoded, path)
	}
	return values, detail
}
