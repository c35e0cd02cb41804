// Package calls serves telephone calls, and the sandbox's telephones: what they received, and actions on them.
package calls

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/inbox"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	stored "carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/talk/files"
)

// Switchboard hangs up calls in progress.
type Switchboard interface {
	// HangUp ends a call and returns the state it was in, or "" if it is not in progress. Errors: not_found.
	HangUp(ctx context.Context, companyID, callID string) (carillon.State, error)
}

// Calls serves a company's calls to its members.
type Calls struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
	Calls  Switchboard
	Files  *files.Files
}

func (x Calls) Routes() []httpio.Route {
	const one = "/calls/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/calls", auth.MayReadNotifications, x.list),
		member.Route(x.Gate, "GET", "/calls/outcomes", auth.MayReadNotifications, x.outcomes),
		member.Route(x.Gate, "GET", one, auth.MayReadNotifications, member.With(callID, x.get)),
		member.Route(x.Gate, "POST", one+"/hangup", auth.MaySendNotifications, member.With(callID, x.hangUp)),
		x.Gate.Raw("GET", one+"/recording", auth.MayReadNotifications, x.recording),
	}
}

// callID reads the id of a call from the path.
func callID(r *http.Request) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if _, _, _, ok := provider.ParseCallID(id); !ok {
		return "", carillon.Absent("Call")
	}
	return id, nil
}

const (
	callList     = "calls" // cursor kinds
	incomingList = "incoming"
)

// callRow is a call in the list. LineID is the id of its sender, empty if the sender was removed.
type callRow struct {
	notify.CallRow
	LineID string `json:"line_id,omitempty"`
}

func (x Calls) list(r *http.Request, by member.Member) (httpio.List[callRow], error) {
	q := r.URL.Query()
	lines, err := x.lines(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.List[callRow]{}, err
	}
	f := stored.Filter{}
	possible, err := readCallFilter(q, lines, &f)
	if err != nil {
		return httpio.List[callRow]{}, err
	}
	incoming, err := readDirection(q)
	if err != nil {
		return httpio.List[callRow]{}, err
	}
	read := x.outgoing
	if incoming {
		read = x.incoming
		possible = possible && f.Campaign == "" // incoming calls have no campaign
	}
	all, next, err := read(r.Context(), by.CompanyID, q, f)
	if err != nil || !possible {
		return httpio.List[callRow]{Data: []callRow{}}, err
	}
	rows := make([]callRow, len(all))
	for i := range all {
		rows[i] = callRow{all[i], lines[all[i].SenderUID]}
	}
	return httpio.List[callRow]{Data: rows, Next: next}, nil
}

// readDirection reports whether the query asks for incoming calls.
func readDirection(q url.Values) (incoming bool, err error) {
	switch d := q.Get("direction"); d {
	case "", "outgoing":
		return false, nil
	case "incoming":
		return true, nil
	default:
		return false, carillon.InvalidValue("direction", "One of outgoing, incoming", carillon.Shorten(d))
	}
}

// outgoing reads a page of placed calls, and the cursor of the next page.
func (x Calls) outgoing(
	ctx context.Context, companyID string, q url.Values, f stored.Filter,
) (rows []notify.CallRow, cursor *string, err error) {
	page, err := httpio.ReadPage(q, callList)
	if err != nil {
		return nil, nil, err
	}
	if f.Limit = page.Limit; page.After != "" {
		before, err := strconv.ParseInt(page.After, 10, 64)
		if err != nil {
			return nil, nil, httpio.BadCursor(q)
		}
		f.Before = carillon.MessageKey(before)
	}
	rows, next, err := notify.Calls{Store: x.Store}.List(ctx, companyID, f)
	if err == nil && next != stored.Oldest {
		cursor = httpio.NextCursor(callList, strconv.FormatInt(int64(next), 10))
	}
	return rows, cursor, err
}

// incoming reads a page of calls to the company's lines, and the cursor of the next page.
func (x Calls) incoming(
	ctx context.Context, companyID string, q url.Values, f stored.Filter,
) (rows []notify.CallRow, cursor *string, err error) {
	page, err := httpio.ReadPage(q, incomingList)
	if err != nil {
		return nil, nil, err
	}
	rows, next, err := notify.Calls{Store: x.Store}.ListIncoming(ctx, companyID, stored.IncomingFilter{
		States: f.States, SenderUID: f.SenderUID, Line: f.Line, AgentID: f.AgentID, Before: page.After, Limit: page.Limit,
	})
	return rows, httpio.NextCursor(incomingList, next), err
}

// lines returns the ids of a company's lines by their internal number (UID).
func (x Calls) lines(ctx context.Context, companyID string) (map[int64]string, error) {
	senders, err := x.Store.Senders.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	lines := make(map[int64]string, len(senders))
	for _, s := range senders {
		lines[s.UID] = s.ID
	}
	return lines, nil
}

// readCallFilter reads the list's filter. found is false if no call can match.
func readCallFilter(q url.Values, lines map[int64]string, f *stored.Filter) (found bool, err error) {
	if f.States, err = form.QueryStates(q, form.CallStates(), "calls"); err != nil {
		return false, err
	}
	if f.AgentID = strings.ToLower(q.Get("agent")); f.AgentID != "" && !carillon.ValidUUID(f.AgentID) {
		return false, carillon.Invalid("agent", "Must be the id of an agent")
	}
	if f.Campaign, err = form.Query(q, "campaign", form.MaxCampaign); err != nil {
		return false, err
	}
	if text := q.Get("number"); text != "" {
		number, err := form.Number("number", text)
		if err != nil {
			return false, err
		}
		f.Line = identity.Number(number)
	}
	line := q.Get("line")
	if line == "" {
		return true, nil
	}
	for uid, id := range lines {
		if id == line {
			f.SenderUID = uid
			return true, nil
		}
	}
	return false, nil
}

// callPage is a call with the id of its line.
type callPage struct {
	*notify.CallPage
	LineID string `json:"line_id,omitempty"`
}

func (x Calls) get(r *http.Request, by member.Member, id string) (callPage, error) {
	p, err := notify.Calls{Store: x.Store}.One(r.Context(), by.CompanyID, id)
	if err != nil {
		return callPage{}, err
	}
	for i := range p.Turns {
		inbox.AddFileURL(by.CompanyID, p.ConversationID, &p.Turns[i].TurnView)
	}
	lines, err := x.lines(r.Context(), by.CompanyID)
	return callPage{p, lines[p.SenderUID]}, err
}

// hangUp ends a call, or cancels a waiting one, like `DELETE notify/{id}?hangup=true`.
func (x Calls) hangUp(r *http.Request, by member.Member, id string) (*notify.Canceled, error) {
	for retry := true; ; retry = false {
		state, err := x.Calls.HangUp(r.Context(), by.CompanyID, id)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, carillon.Absent("Call")
		}
		if err != nil || state != "" {
			return notify.HungUp(id, state), err
		}
		c, err := notify.Calls{Store: x.Store}.One(r.Context(), by.CompanyID, id) // this route must not cancel messages
		if err == nil && c.Direction == "incoming" {
			err = carillon.InConflict("The call has ended")
		}
		if err != nil {
			return nil, err
		}
		canceled, err := x.cancel(r.Context(), by.CompanyID, c)
		if !retry || !carillon.IsCode(err, carillon.Conflict) {
			return canceled, err
		}
		// The call may have started between HangUp and Cancel, so try once more.
	}
}

// cancel cancels a waiting call: the notification that it is, or only the call that follows a message.
func (x Calls) cancel(ctx context.Context, companyID string, c *notify.CallPage) (*notify.Canceled, error) {
	if c.CallID != c.NotificationID {
		return x.Notify.CancelCall(ctx, companyID, c.CallID)
	}
	return x.Notify.Cancel(ctx, companyID, c.CallID, false)
}

// recording responds with the audio of a call.
func (x Calls) recording(w http.ResponseWriter, r *http.Request, by member.Member) error {
	id, err := callID(r)
	if err != nil {
		return err
	}
	file, conversation, err := notify.Calls{Store: x.Store}.Recording(r.Context(), by.CompanyID, id)
	if err != nil {
		return err
	}
	return attachment.Serve(
		w, r, x.Files, func(f *chats.StoredFile) bool { return f.CompanyID == by.CompanyID && f.ConversationID == conversation }, file,
	)
}
