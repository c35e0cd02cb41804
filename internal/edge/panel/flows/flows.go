// Package flows serves the flows of a company: drafts, versions, test runs, and the runs with contacts.
package flows

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	tables "carillon/internal/store/resources"
	"carillon/internal/talk/flow"
)

// Flows serves the editing, publishing and testing of flows. Published flows are resources. A draft is stored
// separately, as it was sent and including its faults, until it is published.
type Flows struct {
	Gate  *member.Gate
	Store *store.Store
}

const (
	maxCount    = 1000 // counted runs per day
	maxVersions = 200  // versions in a list
	noVersion   = "Version of the flow"
)

func (x Flows) Routes() []httpio.Route {
	const one = "/flows/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/flows/overview", auth.MayReadResources, x.overview),
		member.Write(x.Gate, "POST", "/flows/drafts", auth.MayWriteResources, x.begin),
		member.Route(x.Gate, "POST", "/flows/check", auth.MayWriteResources, x.check),
		member.Route(x.Gate, "POST", "/flows/try", auth.MayWriteResources, x.try),
		member.Route(x.Gate, "GET", one+"/draft", auth.MayReadResources, member.ID(flow.Kind().Title(), x.draft)),
		member.Write(x.Gate, "PUT", one+"/draft", auth.MayWriteResources, member.ID(flow.Kind().Title(), x.save)),
		member.Write(x.Gate, "DELETE", one+"/draft", auth.MayWriteResources, member.ID(flow.Kind().Title(), x.drop)),
		member.Write(x.Gate, "POST", one+"/publish", auth.MayWriteResources, member.ID(flow.Kind().Title(), x.publish)),
		member.Route(x.Gate, "GET", one+"/versions", auth.MayReadResources, member.ID(flow.Kind().Title(), x.versions)),
		member.Route(x.Gate, "GET", one+"/versions/{version}", auth.MayReadResources, member.ID(flow.Kind().Title(), x.version)),
	}
}

// flowRow is a flow in the list.
type flowRow struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Trigger   *flow.Trigger `json:"trigger"` // null if not published
	Steps     int           `json:"steps"`
	Version   int           `json:"version"` // 0 if no version has been stored yet
	DraftAt   *string       `json:"draft_at"`
	RunsDay   int           `json:"runs_day"` // at most maxCount
	LastError *flowFailure  `json:"last_failure"`
}

// flowFailure is the latest failed run of a flow.
type flowFailure struct {
	RunID string `json:"run_id"`
	At    string `json:"at"`
	Error string `json:"error"`
}

// overview responds with all flows of the company, published or not.
func (x Flows) overview(r *http.Request, by member.Member) (httpio.Rows[flowRow], error) {
	drafts, err := x.Store.Runs.Drafts(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.Rows[flowRow]{}, err
	}
	published, err := x.Store.Resources.Heads(r.Context(), by.CompanyID, flow.Kind())
	if err != nil {
		return httpio.Rows[flowRow]{}, err
	}
	saved := make(map[string]chats.FlowDraft, len(drafts))
	for _, d := range drafts {
		saved[d.FlowID] = d
	}
	rows := make([]flowRow, 0, len(published)+len(drafts))
	for _, p := range published {
		row, err := x.row(r.Context(), by.CompanyID, p)
		if err != nil {
			return httpio.Rows[flowRow]{}, err
		}
		if d, ok := saved[p.ID]; ok {
			row.DraftAt = formatExact(d.SavedAt)
			delete(saved, p.ID)
		}
		rows = append(rows, row)
	}
	for _, d := range drafts {
		if _, ok := saved[d.FlowID]; ok {
			rows = append(rows, flowRow{ID: d.FlowID, Name: d.Name, DraftAt: formatExact(d.SavedAt)})
		}
	}
	return httpio.RowsOf(rows), nil
}

// row returns a published flow for the list.
func (x Flows) row(ctx context.Context, companyID string, published tables.Head) (row flowRow, err error) {
	h, _ := published.Value.(*flow.Head)
	row = flowRow{ID: published.ID, Name: published.Name, Trigger: &h.Trigger, Steps: h.Steps}
	if row.Version, err = x.Store.Runs.Kept(ctx, companyID, published.ID, h.Digest); err != nil {
		return row, err
	}
	if row.RunsDay, err = x.Store.Runs.Count(ctx, companyID, published.ID, time.Now().Add(-24*time.Hour), maxCount); err != nil {
		return row, err
	}
	failed, err := x.Store.Runs.List(ctx, companyID, chats.RunFilter{FlowID: published.ID, Failed: true}, nil, 1)
	for _, last := range failed {
		row.LastError = &flowFailure{last.ID, carillon.FormatTime(last.ChangedAt), last.Error}
	}
	return row, err
}

// kept returns the version number of a published flow, or 0 if no version has been stored yet.
func (x Flows) kept(ctx context.Context, companyID string, f *flow.Flow) (int, error) {
	_, digest, err := f.Document()
	if err != nil {
		return 0, err
	}
	return x.Store.Runs.Kept(ctx, companyID, f.ID, digest)
}

// editable is a flow in the editor.
type editable struct {
	ID        string          `json:"id"`
	Flow      json.RawMessage `json:"flow"`
	SavedAt   *string         `json:"saved_at"` // when the draft was saved; null if the published flow is shown
	Published bool            `json:"published"`
	Version   int             `json:"version"`
	flowFaults
}

// formatExact formats a timestamp with milliseconds, because clients send it back for comparison.
func formatExact(t time.Time) *string {
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

// published returns a company's published flow, or nil.
func (x Flows) published(ctx context.Context, companyID, id string) (*flow.Flow, error) {
	stored, err := x.Store.Resources.Resource(ctx, companyID, flow.Kind(), id)
	if carillon.IsCode(err, carillon.NotFound) {
		return nil, nil
	}
	f, _ := stored.(*flow.Flow)
	return f, err
}

func (x Flows) draft(r *http.Request, by member.Member, id string) (*editable, error) {
	e, err := x.editable(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	e.Flow, err = shownTo(by, e.Flow)
	return e, err
}

// editable returns a flow for the editor: its draft, or else the published flow. Errors: not_found.
func (x Flows) editable(ctx context.Context, companyID, id string) (*editable, error) {
	f, err := x.published(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	d, err := x.Store.Runs.Draft(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	e := &editable{ID: id, Published: f != nil}
	if f != nil {
		if e.Version, err = x.kept(ctx, companyID, f); err != nil {
			return nil, err
		}
	}
	switch {
	case d != nil:
		e.Flow, e.SavedAt = json.RawMessage(d.Definition), formatExact(d.SavedAt)
		f = new(flow.Flow)
		if err := json.Unmarshal(e.Flow, f); err != nil {
			return nil, err
		}
	case f == nil:
		return nil, carillon.Absent(flow.Kind().Title())
	default:
		if e.Flow, err = json.Marshal(f); err != nil {
			return nil, err
		}
	}
	e.flowFaults, err = x.faults(ctx, companyID, f)
	return e, err
}

// readFlow reads the field `flow` of a body: its text as sent, and the decoded flow, which may have faults.
func readFlow(o *jsonbody.Object) (text json.RawMessage, f *flow.Flow, err error) {
	const field = "flow"
	v := o.Find(field)
	given, present, err := v.Object(field)
	if err == nil && !present {
		err = carillon.Missing(field)
	}
	if err != nil {
		return nil, nil, err
	}
	read, err := config.UnfinishedOf(given, flow.Kind())
	if err != nil {
		return nil, nil, err
	}
	f, _ = read.(*flow.Flow)
	return json.RawMessage(v.Raw()), f, nil
}

// check responds with the faults of a flow and stores nothing.
func (x Flows) check(r *http.Request, by member.Member) (flowFaults, error) {
	o, err := form.Object(r, "flow")
	if err != nil {
		return flowFaults{}, err
	}
	_, f, err := readFlow(o)
	if err != nil {
		return flowFaults{}, err
	}
	return x.faults(r.Context(), by.CompanyID, f)
}

// begin stores the first draft of a new flow.
func (x Flows) begin(r *http.Request, by member.Member) (httpio.Created[*editable], error) {
	o, err := form.Object(r, "flow")
	if err != nil {
		return httpio.Created[*editable]{}, err
	}
	text, f, err := readFlow(o)
	if err != nil {
		return httpio.Created[*editable]{}, err
	}
	id := carillon.NewID(time.Now())
	if err := x.store(r.Context(), by.CompanyID, id, text, f, time.Time{}); err != nil {
		return httpio.Created[*editable]{}, err
	}
	e, err := x.editable(r.Context(), by.CompanyID, id)
	return httpio.Created[*editable]{Value: e}, err
}

// store saves a draft, unless the stored draft has changed since seen.
func (x Flows) store(ctx context.Context, companyID, id string, text json.RawMessage, f *flow.Flow, seen time.Time) error {
	var c resource.Check
	c.Name("flow.name", f.Name) // the list shows the name
	if err := c.Err(); err != nil {
		return err
	}
	return x.Store.Runs.SaveDraft(
		ctx, companyID, &chats.FlowDraft{
			FlowID: id, Name: f.Name, Definition: string(text),
			SavedAt: time.Now().Truncate(time.Millisecond),
		},
		seen,
	)
}

// save stores the draft of a flow, unless someone else has saved one since saved_at.
func (x Flows) save(r *http.Request, by member.Member, id string) (*editable, error) {
	o, err := form.Object(r, "flow", "saved_at")
	if err != nil {
		return nil, err
	}
	text, f, err := readFlow(o)
	if err != nil {
		return nil, err
	}
	seen, err := instant(o, "saved_at")
	if err != nil {
		return nil, err
	}
	if _, err := x.editable(r.Context(), by.CompanyID, id); err != nil {
		return nil, err
	}
	if err := x.store(r.Context(), by.CompanyID, id, text, f, seen); err != nil {
		return nil, err
	}
	return x.editable(r.Context(), by.CompanyID, id)
}

// instant reads a timestamp that this program has sent; zero if absent or null.
func instant(o *jsonbody.Object, field string) (time.Time, error) {
	s, present, err := o.String(field, field)
	if err != nil || !present {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, carillon.Invalid(field, "Must be an RFC 3339 instant such as 2030-01-01T00:00:00Z")
	}
	return t, nil
}

func (x Flows) drop(r *http.Request, by member.Member, id string) (httpio.None, error) {
	dropped, err := x.Store.Runs.DropDraft(r.Context(), by.CompanyID, id, time.Time{})
	if err == nil && !dropped {
		err = carillon.Absent("Draft of the flow")
	}
	return nil, err
}

// publish makes the draft the published flow. Runs in progress continue with the version they began with.
func (x Flows) publish(r *http.Request, by member.Member, id string) (*editable, error) {
	d, err := x.Store.Runs.Draft(r.Context(), by.CompanyID, id)
	if err == nil && d == nil {
		err = carillon.Absent("Draft of the flow")
	}
	if err != nil {
		return nil, err
	}
	f := new(flow.Flow)
	if err := json.Unmarshal([]byte(d.Definition), f); err != nil {
		return nil, err
	}
	f.ID = id
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := Admit(r.Context(), x.Store, by.CompanyID, f); err != nil {
		return nil, err
	}
	put := x.Store.Resources.ReplaceResource
	if now, err := x.published(r.Context(), by.CompanyID, id); err != nil {
		return nil, err
	} else if now == nil {
		put = x.Store.Resources.AddResource
	}
	if _, err := put(r.Context(), by.CompanyID, flow.Kind(), f); err != nil {
		return nil, err
	}
	text, digest, err := f.Document()
	if err != nil {
		return nil, err
	}
	if _, err := x.Store.Runs.Keep(r.Context(), by.CompanyID, id, digest, text, time.Now()); err != nil {
		return nil, err
	}
	if _, err := x.Store.Runs.DropDraft(r.Context(), by.CompanyID, id, d.SavedAt); err != nil {
		return nil, err
	}
	return x.editable(r.Context(), by.CompanyID, id)
}

// HideRequests hides the confidential parts of a flow's HTTP requests from members who may not change flows.
func HideRequests(by member.Member, x resource.Resource) {
	if f, ok := x.(*flow.Flow); ok && !by.Role.Can(auth.MayWriteResources) {
		f.HideRequests()
	}
}

// shownTo returns the definition of a flow as a member may see it.
func shownTo(by member.Member, definition json.RawMessage) (json.RawMessage, error) {
	if by.Role.Can(auth.MayWriteResources) {
		return definition, nil
	}
	f := new(flow.Flow)
	if err := json.Unmarshal(definition, f); err != nil {
		return nil, err
	}
	if !f.HideRequests() {
		return definition, nil
	}
	return json.Marshal(f)
}

// flowVersion is a stored version of a flow.
type flowVersion struct {
	Version   int             `json:"version"`
	CreatedAt string          `json:"created_at,omitempty"`
	Current   bool            `json:"current"` // the published version
	Flow      json.RawMessage `json:"flow,omitempty"`
}

func (x Flows) versions(r *http.Request, by member.Member, id string) (httpio.Rows[flowVersion], error) {
	e, err := x.editable(r.Context(), by.CompanyID, id)
	if err != nil {
		return httpio.Rows[flowVersion]{}, err
	}
	all, err := x.Store.Runs.Versions(r.Context(), by.CompanyID, id, maxVersions)
	rows := make([]flowVersion, 0, len(all))
	for _, v := range all {
		rows = append(rows, flowVersion{Version: v.Version, CreatedAt: carillon.FormatTime(v.CreatedAt), Current: v.Version == e.Version})
	}
	return httpio.RowsOf(rows), err
}

func (x Flows) version(r *http.Request, by member.Member, id string) (flowVersion, error) {
	n, err := strconv.Atoi(r.PathValue("version"))
	if err != nil || n < 1 {
		return flowVersion{}, carillon.Absent(noVersion)
	}
	text, err := x.Store.Runs.Definition(r.Context(), by.CompanyID, id, n)
	if err == nil && text == "" {
		err = carillon.Absent(noVersion)
	}
	if err != nil {
		return flowVersion{}, err
	}
	definition, err := shownTo(by, json.RawMessage(text))
	return flowVersion{Version: n, Flow: definition}, err
}
