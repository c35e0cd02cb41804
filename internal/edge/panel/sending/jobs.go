package sending

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
	"carillon/internal/base/sheet"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/bulk"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// Jobs serves the jobs that send a template to the people in a file.
type Jobs struct {
	Gate             *member.Gate
	Store            *store.Store
	Jobs             *bulk.Jobs
	Uploads, Exports *share.Share
}

func (x Jobs) Routes() []httpio.Route {
	const all, one, needed = "/send/jobs", "/send/jobs/{id}", auth.MaySendNotifications
	return []httpio.Route{
		member.Route(x.Gate, "GET", all, needed, x.list),
		x.Gate.Upload(all, needed, bulk.MaxFile+1<<20, x.upload).Giving(httpio.Created[jobPage]{}),
		member.Route(x.Gate, "GET", one, needed, member.ID("Job", x.get)),
		member.Route(x.Gate, "PATCH", one, needed, member.ID("Job", x.edit)).Taking(editRequest{}),
		member.Route(x.Gate, "DELETE", one, needed, member.ID("Job", x.discard)),
		member.Route(x.Gate, "POST", one+"/check", needed, x.change(x.Jobs.Check)),
		member.Route(x.Gate, "POST", one+"/send", needed, member.ID("Job", x.send)).Taking(sendRequest{}),
		member.Route(x.Gate, "POST", one+"/pause", needed, x.change(x.Jobs.Pause)),
		member.Route(x.Gate, "POST", one+"/resume", needed, x.change(x.Jobs.Resume)),
		member.Route(x.Gate, "POST", one+"/cancel", needed, member.ID("Job", x.cancel)).Taking(cancelRequest{}),
		member.Route(x.Gate, "GET", one+"/rows", needed, member.ID("Job", x.rows)),
		member.Route(x.Gate, "GET", one+"/samples", needed, member.ID("Job", x.samples)),
		x.Gate.Raw("GET", one+"/rows.csv", needed, x.file),
		x.Gate.Raw("GET", "/send/sample", needed, x.sample),
	}
}

// jobRow is a job in the list.
type jobRow struct {
	ID       string            `json:"id"`
	State    messages.JobState `json:"state" enum:"draft,checking,checked,sending,paused,canceling,done,canceled,failed"`
	Reason   string            `json:"reason"`
	Detail   string            `json:"detail"`
	File     string            `json:"file"`
	Bytes    int64             `json:"bytes"`
	Rows     int               `json:"rows"`
	Template string            `json:"template"`
	Language string            `json:"language"`
	Campaign string            `json:"campaign"`
	Checked  int               `json:"checked"` // number of rows checked
	Result   bulk.Result       `json:"result"`
	Author   string            `json:"author"`

	CreatedAt string  `json:"created_at"`
	ChangedAt string  `json:"changed_at"`
	BegunAt   *string `json:"begun_at"`
	EndedAt   *string `json:"ended_at"`
	Restored  *string `json:"restored_at"` // time of a restore after which the job may already have been sent; null if there was none
}

// jobPage is a job with all data of its page.
type jobPage struct {
	jobRow
	Settings bulk.Settings `json:"settings"`
	Quota    quotaRow      `json:"quota"`
	Pace     int           `json:"per_second"` // rate of the sender; 0 if unlimited
	Due      *string       `json:"due"`        // when the messages are sent; null means immediately
}

type quotaRow struct {
	Limit     int    `json:"limit"` // 0 means no limit
	Used      int    `json:"used"`
	ResetTime string `json:"reset_time"`
}

func (x Jobs) row(r *http.Request, v *bulk.View) jobRow {
	row := jobRow{
		ID: v.ID, State: v.State, Reason: v.Reason, Detail: v.Detail, File: v.File, Bytes: v.Bytes, Rows: v.Total,
		Template: v.Settings.Template,
		Language: v.Settings.Language, Campaign: v.Settings.Campaign, Checked: v.Result.Rows, Result: v.Result,
		CreatedAt: carillon.FormatTime(v.CreatedAt), ChangedAt: carillon.FormatTime(v.ChangedAt), BegunAt: auth.TimeOrNull(v.BegunAt),
		EndedAt:  auth.TimeOrNull(v.EndedAt),
		Restored: auth.TimeOrNull(v.RestoredAt),
	}
	if row.Result.Faults == nil {
		row.Result.Faults = map[string]int{}
	}
	if a, err := x.Store.Accounts.Account(r.Context(), v.Author); err == nil { // the account may have been deleted
		if row.Author = a.Name; row.Author == "" {
			row.Author = a.Email
		}
	}
	return row
}

// page returns the response for a job, or the error of finding or changing it.
func (x Jobs) page(r *http.Request, v *bulk.View, err error) (jobPage, error) {
	if err != nil {
		return jobPage{}, err
	}
	p := jobPage{jobRow: x.row(r, v), Settings: v.Settings, Due: auth.TimeOrNull(v.Due())}
	q, err := x.Jobs.Quota(r.Context(), v.CompanyID)
	if err != nil {
		return jobPage{}, err
	}
	p.Quota = quotaRow{q.Limit, q.Used, carillon.FormatTime(q.Reset)}
	if v.Settings.Sender != "" {
		named, err := x.Store.Senders.SendersNamed(r.Context(), v.CompanyID, v.Settings.Sender)
		if err != nil {
			return jobPage{}, err
		}
		for _, s := range named {
			if s.ID == v.Settings.Sender {
				p.Pace = s.PerSecond
			}
		}
	}
	return p, nil
}

const jobList = "jobs" // cursor kind

func (x Jobs) list(r *http.Request, by member.Member) (httpio.List[jobRow], error) {
	page, err := httpio.ReadPage(r.URL.Query(), jobList)
	if err != nil {
		return httpio.List[jobRow]{}, err
	}
	var after *messages.JobPage
	if page.After != "" {
		at, id, ok := strings.Cut(page.After, "/")
		ms, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			return httpio.List[jobRow]{}, httpio.BadCursor(r.URL.Query())
		}
		after = &messages.JobPage{CreatedAt: time.UnixMilli(ms), ID: id}
	}
	all, err := x.Jobs.List(r.Context(), by.CompanyID, after, page.Limit+1)
	if err != nil {
		return httpio.List[jobRow]{}, err
	}
	key := func(v *bulk.View) string { return fmt.Sprintf("%d/%s", v.CreatedAt.UnixMilli(), v.ID) }
	return httpio.ListOf(page, jobList, all, key, func(v *bulk.View) jobRow { return x.row(r, v) }), nil
}

// upload creates a job from a file.
func (x Jobs) upload(w http.ResponseWriter, r *http.Request, by member.Member) error {
	if err := x.Store.DB.Commits.Full(); err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	place, err := x.Uploads.Take(by.Holder())
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	defer place.Release()
	key, err := httpio.IdempotencyKey(r)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	in, err := httpio.Upload(w, r, "file", bulk.MaxFile)
	if err != nil {
		return err
	}
	v, err := x.Jobs.Upload(r.Context(), bulk.File{
		CompanyID: by.CompanyID, Author: by.AccountID, Name: in.Name, Bytes: r.ContentLength, Key: key, Content: in,
	})
	if err != nil {
		in.Leave() // the body belongs to the request
		return err
	}
	// Upload does not read a repeated upload, but browsers send the whole body before they read the response.
	_, _ = io.Copy(io.Discard, in)
	p, err := x.page(r, v, nil)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusCreated, p)
}

func (x Jobs) get(r *http.Request, by member.Member, id string) (jobPage, error) {
	v, err := x.Jobs.Find(r.Context(), by.CompanyID, id)
	return x.page(r, v, err)
}

func (x Jobs) edit(r *http.Request, by member.Member, id string) (jobPage, error) {
	e, err := readEdit(r)
	if err != nil {
		return jobPage{}, err
	}
	v, err := x.Jobs.Change(r.Context(), by.CompanyID, id, e)
	return x.page(r, v, err)
}

func (x Jobs) discard(r *http.Request, by member.Member, id string) (httpio.None, error) {
	return nil, x.Jobs.Discard(r.Context(), by.CompanyID, id)
}

// sendRequest starts a job; Recipients is the number that was displayed.
type sendRequest struct {
	Recipients int  `json:"recipients"`
	Again      bool `json:"again,omitempty"`
}

// send starts sending a job. recipients is the number that the page displayed; again confirms sending a job that may
// already have been sent before a restore.
func (x Jobs) send(r *http.Request, by member.Member, id string) (jobPage, error) {
	o, err := form.Body[sendRequest](r)
	if err != nil {
		return jobPage{}, err
	}
	recipients, err := whole(o.Find("recipients"), "recipients")
	if err != nil {
		return jobPage{}, err
	}
	again, _, err := o.Bool("again", "again")
	if err != nil {
		return jobPage{}, err
	}
	v, err := x.Jobs.Send(r.Context(), by.CompanyID, id, recipients, again)
	return x.page(r, v, err)
}

// cancelRequest ends a job, with Accepted also its notifications.
type cancelRequest struct {
	Accepted bool `json:"accepted,omitempty"`
}

// cancel ends a job. With accepted, it also cancels the notifications already accepted.
func (x Jobs) cancel(r *http.Request, by member.Member, id string) (jobPage, error) {
	o, err := form.Body[cancelRequest](r)
	if err != nil {
		return jobPage{}, err
	}
	accepted, _, err := o.Bool("accepted", "accepted")
	if err != nil {
		return jobPage{}, err
	}
	v, err := x.Jobs.Cancel(r.Context(), by.CompanyID, id, accepted)
	return x.page(r, v, err)
}

const (
	badRowList = "bad rows" // cursor kind
	maxSamples = 20
)

// rows responds with the rows that are not sent.
func (x Jobs) rows(r *http.Request, by member.Member, id string) (httpio.List[bulk.BadRow], error) {
	page, err := httpio.ReadPage(r.URL.Query(), badRowList)
	if err != nil {
		return httpio.List[bulk.BadRow]{}, err
	}
	var from bulk.Place
	if page.After != "" {
		if _, err := fmt.Sscanf(page.After, "%d/%d", &from.Batch, &from.Row); err != nil || from.Batch < 0 || from.Row < 0 {
			return httpio.List[bulk.BadRow]{}, httpio.BadCursor(r.URL.Query())
		}
	}
	all, next, more, err := x.Jobs.BadRows(r.Context(), by.CompanyID, id, r.URL.Query().Get("reason"), from, page.Limit)
	after := ""
	if more {
		after = fmt.Sprintf("%d/%d", next.Batch, next.Row)
	}
	return httpio.Part(badRowList, all, after), err
}

// sampleRows are rows that are sent, with the components of their template.
type sampleRows struct {
	Data       []bulk.Sample        `json:"data"`
	Components []carillon.Component `json:"components"`
}

// samples responds with rows that are sent, starting at a row number.
func (x Jobs) samples(r *http.Request, by member.Member, id string) (sampleRows, error) {
	from := 0
	if text := r.URL.Query().Get("from"); text != "" {
		var err error
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return sampleRows{}, carillon.Invalid("from", "Must be a whole number")
		}
	}
	all, t, err := x.Jobs.Samples(r.Context(), by.CompanyID, id, from, maxSamples)
	if err != nil {
		return sampleRows{}, err
	}
	return sampleRows{append([]bulk.Sample{}, all...), t.Components}, nil
}

// file responds with a CSV file of the rows that are not sent.
func (x Jobs) file(w http.ResponseWriter, r *http.Request, by member.Member) error {
	id, err := form.ID(r, "Job")
	if err != nil {
		return err
	}
	v, err := x.Jobs.Find(r.Context(), by.CompanyID, id)
	if err != nil {
		return err
	}
	place, err := x.Exports.Take(by.Holder())
	if err != nil {
		return err
	}
	defer place.Release()
	if err := x.Jobs.WriteBad(r.Context(), v, httpio.OpenDownload(w, "rows-not-sent-"+id[len(id)-8:]+".csv")); err != nil {
		panic(http.ErrAbortHandler) // a truncated file must not look complete
	}
	return nil
}

// sample responds with a file for the people whom the template of the query is sent to: CSV, or a workbook.
func (x Jobs) sample(w http.ResponseWriter, r *http.Request, by member.Member) error {
	q := r.URL.Query()
	format := q.Get("format")
	if format != "csv" && format != "xlsx" {
		return carillon.InvalidValue("format", "One of csv, xlsx", format)
	}
	t, err := x.Store.Templates.Template(r.Context(), by.CompanyID, q.Get("template"))
	if err != nil {
		return err
	}
	rows := bulk.SampleFile(&t.Template)
	if format == "csv" {
		return sheet.WriteCSV(httpio.OpenDownload(w, t.Name+".csv"), rows)
	}
	return sheet.WriteWorkbook(httpio.OpenWorkbook(w, t.Name+".xlsx"), rows)
}

// change returns a handler that changes a job without a request body.
func (x Jobs) change(do func(ctx context.Context, companyID, id string) (*bulk.View, error)) member.Handler[jobPage] {
	return member.ID("Job", func(r *http.Request, by member.Member, id string) (jobPage, error) {
		v, err := do(r.Context(), by.CompanyID, id)
		return x.page(r, v, err)
	})
}

// editRequest changes the given settings of a job, if it has the version. A column of -1 is none.
type editRequest struct {
	Version  int                   `json:"version"`
	Number   int                   `json:"number,omitempty"`
	Fields   map[string]int        `json:"fields,omitempty"`
	Values   map[string]bulk.Value `json:"values,omitempty"`
	Template string                `json:"template,omitempty"`
	Language string                `json:"language,omitempty"`
	Sender   string                `json:"sender,omitempty"`
	Campaign string                `json:"campaign,omitempty"`
	Type     string                `json:"type,omitempty"`
	Event    string                `json:"event,omitempty"`
	At       string                `json:"datetime_sending,omitempty"`
	Timezone string                `json:"timezone,omitempty"`
}

// readEdit reads a change of a job's settings.
func readEdit(r *http.Request) (e bulk.Edit, err error) {
	o, err := form.Body[editRequest](r)
	if err != nil {
		return e, err
	}
	if e.Version, err = whole(o.Find("version"), "version"); err != nil {
		return e, err
	}
	for _, f := range []struct {
		field string
		to    **string
		most  int
	}{
		{"template", &e.Template, form.MaxTemplateName},
		{"language", &e.Language, form.MaxName},
		{"sender", &e.Sender, form.MaxName},
		{"campaign", &e.Campaign, form.MaxCampaign},
		{"type", &e.Type, form.MaxName},
		{"event", &e.Event, form.MaxCampaign},
		{"datetime_sending", &e.At, form.MaxName},
		{"timezone", &e.Timezone, form.MaxName},
	} {
		if *f.to, err = form.Optional(o, f.field, func() (string, error) { return form.Text(o, f.field, f.most) }); err != nil {
			return e, err
		}
	}
	if e.Type != nil && *e.Type != "" {
		if _, ok := carillon.ParseClass(*e.Type); !ok {
			return e, carillon.InvalidValue("type", "One of transactional, utility, marketing", *e.Type)
		}
	}
	if o.Find("number").Present() {
		n, err := column(o.Find("number"), "number")
		if err != nil {
			return e, err
		}
		e.Number = &n
	}
	if e.Fields, err = readColumns(o); err != nil {
		return e, err
	}
	e.Values, err = readValues(o)
	return e, err
}

// readColumns reads the mapping of contact fields to columns; nil if absent.
func readColumns(o *jsonbody.Object) (map[string]int, error) {
	fields, given, err := o.Find("fields").Object("fields")
	if err != nil || !given {
		return nil, err
	}
	all := map[string]int{}
	for _, name := range fields.Keys() {
		if all[name], err = column(fields.Find(name), "fields."+carillon.Shorten(name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readValues reads the sources of the variables' values; nil if absent.
func readValues(o *jsonbody.Object) (map[string]bulk.Value, error) {
	values, given, err := o.Find("values").Object("values")
	if err != nil || !given {
		return nil, err
	}
	if len(values.Keys()) > form.MaxVariables {
		return nil, carillon.Invalid("values", "Too many")
	}
	all := map[string]bulk.Value{}
	for _, key := range values.Keys() {
		field := "values." + carillon.Shorten(key)
		one, given, err := values.Find(key).Object(field)
		if err == nil && !given {
			err = carillon.Missing(field)
		}
		if err != nil {
			return nil, err
		}
		var v bulk.Value
		if one.Find("column").Present() {
			n, err := column(one.Find("column"), field)
			if err != nil {
				return nil, err
			}
			v.Column = &n
		} else if v.Text, _, err = one.String(field, "text"); err != nil {
			return nil, err
		}
		if len(v.Text) > 4*form.MaxWritten {
			return nil, carillon.Invalid(field, "Too long")
		}
		all[key] = v
	}
	return all, nil
}

// column reads a column number, or -1.
func column(v jsonbody.Value, field string) (int, error) {
	if string(v.Raw()) == "-1" {
		return -1, nil
	}
	return whole(v, field)
}

// whole reads a count.
func whole(v jsonbody.Value, field string) (int, error) {
	if !v.Present() {
		return 0, carillon.Missing(field)
	}
	text := string(v.Raw())
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strings.HasPrefix(text, "+") {
		return 0, carillon.BadFormat(field, carillon.Shorten(text), "Whole number", 1)
	}
	return n, nil
}
