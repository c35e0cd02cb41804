package panel

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/base/share"
	"carillon/internal/send/bulk"
	stored "carillon/internal/store/bulk"
)

// jobs serves the jobs that send a template to the people of a file.
type jobs struct {
	*Panel
	uploads, exports *share.Share
}

func (x jobs) routes() []httpio.Route {
	const all, one, needed = "/send/jobs", "/send/jobs/{id}", auth.MaySendNotifications
	return []httpio.Route{
		x.route("GET", all, needed, x.list),
		{Pattern: "POST " + prefix + all, Access: "panel", Permission: string(needed), MaxBody: bulk.MaxFile + 1<<20, Handle: x.upload},
		x.route("GET", one, needed, x.get),
		x.route("PATCH", one, needed, x.edit),
		x.route("DELETE", one, needed, x.discard),
		x.route("POST", one+"/check", needed, x.change(x.Jobs.Check)),
		x.route("POST", one+"/send", needed, x.send),
		x.route("POST", one+"/pause", needed, x.change(x.Jobs.Pause)),
		x.route("POST", one+"/resume", needed, x.change(x.Jobs.Resume)),
		x.route("POST", one+"/cancel", needed, x.cancel),
		x.route("GET", one+"/rows", needed, x.rows),
		x.route("GET", one+"/samples", needed, x.samples),
		{Pattern: "GET " + prefix + one + "/rows.csv", Access: "panel", Permission: string(needed), Handle: x.file},
	}
}

// jobRow is a job in the list.
type jobRow struct {
	ID       string       `json:"id"`
	State    stored.State `json:"state"`
	Reason   string       `json:"reason"`
	Detail   string       `json:"detail"`
	File     string       `json:"file"`
	Bytes    int64        `json:"bytes"`
	Rows     int          `json:"rows"`
	Template string       `json:"template"`
	Language string       `json:"language"`
	Campaign string       `json:"campaign"`
	Checked  int          `json:"checked"` // rows
	Result   bulk.Result  `json:"result"`
	Author   string       `json:"author"`

	CreatedAt string  `json:"created_at"`
	ChangedAt string  `json:"changed_at"`
	BegunAt   *string `json:"begun_at"`
	EndedAt   *string `json:"ended_at"`
	Restored  *string `json:"restored_at"` // it may have been sent since the backup; null: it was not
}

// jobPage is a job with all that its page shows.
type jobPage struct {
	jobRow
	Settings bulk.Settings `json:"settings"`
	Quota    quotaRow      `json:"quota"`
	Pace     int           `json:"per_second"` // of the sender; 0: it is not paced
	Due      *string       `json:"due"`        // when the messages leave; null: at once
}

type quotaRow struct {
	Limit     int    `json:"limit"` // 0: none
	Used      int    `json:"used"`
	ResetTime string `json:"reset_time"`
}

func (x jobs) row(r *http.Request, v *bulk.View) jobRow {
	row := jobRow{
		ID: v.ID, State: v.State, Reason: v.Reason, Detail: v.Detail, File: v.File, Bytes: v.Bytes, Rows: v.Total, Template: v.Settings.Template,
		Language: v.Settings.Language, Campaign: v.Settings.Campaign, Checked: v.Result.Rows, Result: v.Result,
		CreatedAt: carillon.FormatTime(v.CreatedAt), ChangedAt: carillon.FormatTime(v.ChangedAt), BegunAt: auth.TimeOrNull(v.BegunAt), EndedAt: auth.TimeOrNull(v.EndedAt),
		Restored: auth.TimeOrNull(v.RestoredAt),
	}
	if row.Result.Faults == nil {
		row.Result.Faults = map[string]int{}
	}
	if a, err := x.Store.Account(r.Context(), v.Author); err == nil { // the account may be gone
		if row.Author = a.Name; row.Author == "" {
			row.Author = a.Email
		}
	}
	return row
}

func (x jobs) page(r *http.Request, v *bulk.View) (any, error) {
	p := jobPage{jobRow: x.row(r, v), Settings: v.Settings, Due: auth.TimeOrNull(v.Due())}
	q, err := x.Jobs.Quota(r.Context(), v.CompanyID)
	if err != nil {
		return nil, err
	}
	p.Quota = quotaRow{q.Limit, q.Used, carillon.FormatTime(q.Reset)}
	if v.Settings.Sender != "" {
		named, err := x.Store.SendersNamed(r.Context(), v.CompanyID, v.Settings.Sender)
		if err != nil {
			return nil, err
		}
		for _, s := range named {
			if s.ID == v.Settings.Sender {
				p.Pace = s.PerSecond
			}
		}
	}
	return p, nil
}

// job reads the id from the path.
func (x jobs) job(r *http.Request) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent("Job")
	}
	return id, nil
}

const jobList = "jobs" // the kind of cursor

func (x jobs) list(r *http.Request, by member) (any, error) {
	page, err := httpio.ReadPage(r.URL.Query(), jobList)
	if err != nil {
		return nil, err
	}
	var after *stored.Page
	if page.After != "" {
		at, id, ok := strings.Cut(page.After, "/")
		ms, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			return nil, httpio.BadCursor(r.URL.Query())
		}
		after = &stored.Page{CreatedAt: time.UnixMilli(ms), ID: id}
	}
	all, err := x.Jobs.List(r.Context(), by.companyID, after, page.Limit+1)
	if err != nil {
		return nil, err
	}
	key := func(v *bulk.View) string { return fmt.Sprintf("%d/%s", v.CreatedAt.UnixMilli(), v.ID) }
	return httpio.ListOf(page, jobList, all, key, func(v *bulk.View) jobRow { return x.row(r, v) }), nil
}

// upload makes a job of a file.
func (x jobs) upload(w http.ResponseWriter, r *http.Request) error {
	r, by, err := x.memberOf(r, auth.MaySendNotifications)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	if err := x.Store.Full(); err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	place, err := x.uploads.Take(by.holder())
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
	v, err := x.Jobs.Upload(r.Context(), bulk.File{CompanyID: by.companyID, Author: by.accountID, Name: in.Name, Bytes: r.ContentLength, Key: key, Content: in})
	if err != nil {
		in.Leave() // the body is the request's
		return err
	}
	_, _ = io.Copy(io.Discard, in) // of a repeated upload there is the rest, which the browser sends before it reads the response
	p, err := x.page(r, v)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusCreated, p)
}

func (x jobs) get(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	v, err := x.Jobs.Find(r.Context(), by.companyID, id)
	if err != nil {
		return nil, err
	}
	return x.page(r, v)
}

func (x jobs) edit(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	e, err := readEdit(r)
	if err != nil {
		return nil, err
	}
	v, err := x.Jobs.Change(r.Context(), by.companyID, id, e)
	if err != nil {
		return nil, err
	}
	return x.page(r, v)
}

func (x jobs) discard(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	return nil, x.Jobs.Discard(r.Context(), by.companyID, id)
}

// send begins to send a job. recipients is how many the page showed; again confirms a job that a restore made uncertain.
func (x jobs) send(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "recipients", "again")
	if err != nil {
		return nil, err
	}
	recipients, err := whole(o.Find("recipients"), "recipients")
	if err != nil {
		return nil, err
	}
	again, _, err := o.Bool("again", "again")
	if err != nil {
		return nil, err
	}
	v, err := x.Jobs.Send(r.Context(), by.companyID, id, recipients, again)
	if err != nil {
		return nil, err
	}
	return x.page(r, v)
}

// cancel ends a job; accepted says that what it has accepted is canceled too.
func (x jobs) cancel(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "accepted")
	if err != nil {
		return nil, err
	}
	accepted, _, err := o.Bool("accepted", "accepted")
	if err != nil {
		return nil, err
	}
	v, err := x.Jobs.Cancel(r.Context(), by.companyID, id, accepted)
	if err != nil {
		return nil, err
	}
	return x.page(r, v)
}

const (
	badRowList  = "bad rows" // the kind of cursor
	samplesMost = 20
)

// rows responds with rows that are not sent.
func (x jobs) rows(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	page, err := httpio.ReadPage(r.URL.Query(), badRowList)
	if err != nil {
		return nil, err
	}
	var from bulk.Place
	if page.After != "" {
		if _, err := fmt.Sscanf(page.After, "%d/%d", &from.Batch, &from.Row); err != nil || from.Batch < 0 || from.Row < 0 {
			return nil, httpio.BadCursor(r.URL.Query())
		}
	}
	all, next, more, err := x.Jobs.BadRows(r.Context(), by.companyID, id, r.URL.Query().Get("reason"), from, page.Limit)
	list := httpio.List[bulk.BadRow]{Data: append([]bulk.BadRow{}, all...)}
	if more {
		cursor := httpio.EncodeCursor(badRowList, fmt.Sprintf("%d/%d", next.Batch, next.Row))
		list.Next = &cursor
	}
	return list, err
}

// samples responds with rows that are sent, from a number on.
func (x jobs) samples(r *http.Request, by member) (any, error) {
	id, err := x.job(r)
	if err != nil {
		return nil, err
	}
	from := 0
	if text := r.URL.Query().Get("from"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return nil, carillon.Invalid("from", "Must be a whole number")
		}
	}
	all, t, err := x.Jobs.Samples(r.Context(), by.companyID, id, from, samplesMost)
	if err != nil {
		return nil, err
	}
	return struct {
		Data       []bulk.Sample        `json:"data"`
		Components []carillon.Component `json:"components"`
	}{append([]bulk.Sample{}, all...), t.Components}, nil
}

// file responds with the rows that are not sent as a CSV file.
func (x jobs) file(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MaySendNotifications)
	if err != nil {
		return err
	}
	id, err := x.job(r)
	if err != nil {
		return err
	}
	v, err := x.Jobs.Find(r.Context(), by.companyID, id)
	if err != nil {
		return err
	}
	place, err := x.exports.Take(by.holder())
	if err != nil {
		return err
	}
	defer place.Release()
	if err := x.Jobs.WriteBad(r.Context(), v, httpio.OpenDownload(w, "rows-not-sent-"+id[len(id)-8:]+".csv")); err != nil {
		panic(http.ErrAbortHandler) // a file that was cut must not look whole
	}
	return nil
}
