package flows

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// Runs serves the runs of a company's flows to members who may read its conversations.
type Runs struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
}

const (
	runList = "runs" // cursor kind
	noRun   = "Run"
)

func (x Runs) Routes() []httpio.Route {
	const one = "/flow-runs/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/flow-runs", auth.MayReadConversations, x.list),
		member.Route(x.Gate, "GET", one, auth.MayReadConversations, x.get),
		member.Route(x.Gate, "POST", one+"/stop", auth.MayAnswerConversations, x.stop),
	}
}

// runRow is a run in the list.
type runRow struct {
	ID             string  `json:"id"`
	FlowID         string  `json:"flow_id"`
	Flow           string  `json:"flow"` // name of the flow; empty if it was removed
	Version        int     `json:"version"`
	ConversationID string  `json:"conversation_id"`
	Name           string  `json:"name"` // name of the contact
	Number         string  `json:"number"`
	Username       string  `json:"username,omitempty"`
	Channel        string  `json:"channel"`
	Cause          string  `json:"cause"`
	Event          string  `json:"event"`
	NotificationID string  `json:"notification_id"`
	State          string  `json:"state" enum:"ready,asking,waiting,calling,completed,handed_off,stopped,failed"`
	Open           bool    `json:"open"`
	Path           string  `json:"path"`
	Steps          int     `json:"steps"`
	Error          string  `json:"error"`
	DueAt          *string `json:"due_at"`
	StartedAt      string  `json:"started_at"`
	ChangedAt      string  `json:"changed_at"`
}

// runShown is a run with its log and the steps it began with.
type runShown struct {
	runRow
	Variables  map[string]string `json:"variables"`
	Question   string            `json:"question"`
	Entries    []runEntry        `json:"entries"`
	Definition json.RawMessage   `json:"definition"`
}

type runEntry struct {
	At      string            `json:"at"`
	Path    string            `json:"path"`
	Kind    string            `json:"kind"`
	Text    string            `json:"text"`
	Changed map[string]string `json:"changed,omitempty"`
}

func (x Runs) list(r *http.Request, by member.Member) (httpio.List[runRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, runList)
	if err != nil {
		return httpio.List[runRow]{}, err
	}
	f := chats.RunFilter{FlowID: strings.ToLower(q.Get("flow"))}
	if f.FlowID != "" && !carillon.ValidUUID(f.FlowID) {
		return httpio.List[runRow]{}, carillon.InvalidValue("flow", "Must be the id of a flow", carillon.Shorten(f.FlowID))
	}
	switch state := q.Get("state"); state {
	case "":
	case "failed":
		f.Failed = true
	default:
		return httpio.List[runRow]{}, carillon.InvalidValue("state", "Must be failed, or be left out", carillon.Shorten(state))
	}
	var after *chats.RunPage
	if page.After != "" {
		at, id, _ := strings.Cut(page.After, "/")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return httpio.List[runRow]{}, httpio.BadCursor(q)
		}
		after = &chats.RunPage{StartedAt: time.UnixMilli(ms).UTC(), ID: id}
	}
	all, err := x.Store.Runs.List(r.Context(), by.CompanyID, f, after, page.Limit+1)
	if err != nil {
		return httpio.List[runRow]{}, err
	}
	rows, err := RowsOf(r.Context(), x.Store, by.CompanyID, all)
	if err != nil {
		return httpio.List[runRow]{}, err
	}
	key := make(map[string]string, len(all))
	for _, run := range all {
		key[run.ID] = strconv.FormatInt(run.StartedAt.UnixMilli(), 10) + "/" + run.ID
	}
	return httpio.ListOf(page, runList, rows, func(row runRow) string { return key[row.ID] }, func(row runRow) runRow { return row }), nil
}

// RowsOf returns runs with the names of their flows and contacts.
func RowsOf(ctx context.Context, s *store.Store, companyID string, all []*chats.Run) ([]runRow, error) {
	heads, err := s.Resources.Heads(ctx, companyID, flow.Kind())
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(heads))
	for _, h := range heads {
		names[h.ID] = h.Name
	}
	conversations := make([]string, 0, len(all))
	for _, run := range all {
		conversations = append(conversations, run.ConversationID)
	}
	people, err := s.Runs.People(ctx, companyID, conversations)
	if err != nil {
		return nil, err
	}
	rows := make([]runRow, 0, len(all))
	for _, run := range all {
		p := people[run.ConversationID]
		rows = append(rows, runRow{
			ID: run.ID, FlowID: run.FlowID, Flow: names[run.FlowID], Version: run.Version, ConversationID: run.ConversationID,
			Name: p.Name, Number: p.Number, Username: p.Username, Channel: p.Channel,
			Cause: run.Cause, Event: run.Event, NotificationID: run.NotificationID,
			State: run.State, Open: run.Open, Path: run.Path, Steps: run.Steps, Error: run.Error, DueAt: auth.TimeOrNull(run.Due),
			StartedAt: carillon.FormatTime(run.StartedAt), ChangedAt: carillon.FormatTime(run.ChangedAt),
		})
	}
	return rows, nil
}

// find returns the run named in the path. Errors: not_found.
func (x Runs) find(r *http.Request, by member.Member) (*chats.Run, error) {
	id, err := form.ID(r, noRun)
	if err != nil {
		return nil, err
	}
	run, err := x.Store.Runs.Find(r.Context(), by.CompanyID, id)
	if err == nil && run == nil {
		err = carillon.Absent(noRun)
	}
	return run, err
}

func (x Runs) get(r *http.Request, by member.Member) (*runShown, error) {
	run, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	return x.shown(r.Context(), by, run)
}

func (x Runs) shown(ctx context.Context, by member.Member, run *chats.Run) (*runShown, error) {
	rows, err := RowsOf(ctx, x.Store, by.CompanyID, []*chats.Run{run})
	if err != nil {
		return nil, err
	}
	text, err := x.Store.Runs.Definition(ctx, by.CompanyID, run.FlowID, run.Version)
	if err != nil {
		return nil, err
	}
	definition := json.RawMessage("null")
	if text != "" {
		if definition, err = shownTo(by, json.RawMessage(text)); err != nil {
			return nil, err
		}
	}
	entries, err := x.Store.Runs.Entries(ctx, by.CompanyID, run.ID)
	if err != nil {
		return nil, err
	}
	s := &runShown{
		runRow: rows[0], Variables: run.Variables, Question: run.Question, Entries: make([]runEntry, 0, len(entries)),
		Definition: definition,
	}
	for _, e := range entries {
		s.Entries = append(s.Entries, runEntry{*formatExact(e.At), e.Path, e.Kind, e.Text, e.Changed})
	}
	return s, nil
}

// stop ends a run. The conversation continues with its agent. Errors: conflict if the run has ended.
func (x Runs) stop(r *http.Request, by member.Member) (*runShown, error) {
	run, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	now, err := x.Store.Runs.Current(r.Context(), by.CompanyID, run.ConversationID)
	if err != nil {
		return nil, err
	}
	if now == nil || now.ID != run.ID {
		return nil, carillon.InConflict("The run is over")
	}
	if err := x.Conversations.Runner.Stop(r.Context(), by.CompanyID, run.ConversationID, "By "+by.Name); err != nil {
		return nil, err
	}
	if run, err = x.find(r, by); err != nil {
		return nil, err
	}
	return x.shown(r.Context(), by, run)
}
