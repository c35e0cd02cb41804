package sending

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/number"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/flows"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// Sent serves a company's notifications to its members.
type Sent struct {
	Gate   *member.Gate
	Store  *store.Store
	Notify *notify.Notify
	Send   Send
}

func (x Sent) Routes() []httpio.Route {
	const one = "/notifications/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/notifications", auth.MayReadNotifications, x.list),
		member.Route(x.Gate, "GET", "/notifications/lookup", auth.MayReadNotifications, x.lookUp),
		member.Route(x.Gate, "GET", one, auth.MayReadNotifications, member.ID("Notification", x.get)),
		member.Route(x.Gate, "GET", one+"/timeline", auth.MayReadNotifications, member.ID("Notification", x.timeline)),
		member.Route(x.Gate, "GET", one+"/request", auth.MayReadNotifications, member.ID("Notification", x.request)),
		member.Route(x.Gate, "GET", one+"/filled", auth.MayReadNotifications, member.ID("Notification", x.filled)),
		member.Route(x.Gate, "POST", one+"/cancel", auth.MaySendNotifications, member.ID("Notification", x.cancel)),
		member.Route(x.Gate, "POST", one+"/move", auth.MaySendNotifications, member.ID("Notification", x.move)).Taking(moveRequest{}),
		member.Route(x.Gate, "GET", one+"/resend", auth.MaySendNotifications, member.ID("Notification", x.resendable)),
		member.Route(x.Gate, "POST", one+"/resend", auth.MaySendNotifications, member.ID("Notification", x.resend)).Taking(resendRequest{}),
	}
}

const (
	sentPages = "notifications" // cursor kind
	maxIds    = 100             // notifications requested by id
	maxQuery  = 300             // characters of a lookup
	maxRuns   = 100             // runs of a notification
)

func (x Sent) sent() notify.Sent { return notify.Sent{Store: x.Store} }

// list responds with a page of the company's notifications, or with those in `ids`.
func (x Sent) list(r *http.Request, by member.Member) (httpio.List[notify.Row], error) {
	q := r.URL.Query()
	if q.Has("ids") {
		ids, err := readIDs(q.Get("ids"))
		if err != nil {
			return httpio.List[notify.Row]{}, err
		}
		rows, err := x.sent().Of(r.Context(), by.CompanyID, ids)
		return httpio.Part(sentPages, rows, ""), err
	}
	page, err := httpio.ReadPage(q, sentPages)
	if err != nil {
		return httpio.List[notify.Row]{}, err
	}
	if page.After != "" && !carillon.ValidUUID(page.After) {
		return httpio.List[notify.Row]{}, httpio.BadCursor(q)
	}
	if found := number.Find(q.Get("number")); found != "" {
		q.Set("number", found)
	}
	f, none, err := notify.ReadFilter(r.Context(), x.Store, by.CompanyID, q)
	if err != nil || none {
		return httpio.Part[notify.Row](sentPages, nil, ""), err
	}
	if v := q.Get("failed"); v != "" && v != "true" {
		return httpio.List[notify.Row]{}, carillon.InvalidValue("failed", "true, or nothing", v)
	}
	f.Failed = q.Get("failed") == "true"
	f.Limit, f.Before = page.Limit, page.After
	rows, next, err := x.sent().List(r.Context(), by.CompanyID, f)
	if err != nil {
		return httpio.List[notify.Row]{}, err
	}
	if fit := httpio.Fit(rows); fit < len(rows) {
		rows, next = rows[:fit], rows[fit-1].ID
	}
	return httpio.Part(sentPages, rows, next), nil
}

func readIDs(text string) ([]string, error) {
	ids := strings.Split(strings.ToLower(text), ",")
	if len(ids) > maxIds || slices.ContainsFunc(ids, func(id string) bool { return !carillon.ValidUUID(id) }) {
		return nil, carillon.Invalid("ids", "At most "+strconv.Itoa(maxIds)+" ids")
	}
	return ids, nil
}

// lookUp responds with the object that an id or a number belongs to, if any.
func (x Sent) lookUp(r *http.Request, by member.Member) (httpio.List[notify.Hit], error) {
	text := r.URL.Query().Get("q")
	if len(text) > maxQuery {
		return httpio.List[notify.Hit]{}, carillon.Invalid("q", "At most "+strconv.Itoa(maxQuery)+" bytes")
	}
	list := httpio.List[notify.Hit]{Data: []notify.Hit{}}
	hit, err := x.sent().LookUp(r.Context(), by.CompanyID, text)
	if hit.Kind != "" {
		list.Data = append(list.Data, hit)
	}
	return list, err
}

// sentPage is a notification with the flow runs that it started.
type sentPage struct {
	*notify.Page
	Runs []sentRun `json:"runs"`
}

// sentRun is a flow run that a notification started.
type sentRun struct {
	ID        string `json:"id"`
	Flow      string `json:"flow"`
	Name      string `json:"name"`
	Number    string `json:"number"`
	State     string `json:"state" enum:"ready,asking,waiting,calling,completed,handed_off,stopped,failed"`
	StartedAt string `json:"started_at"`
}

func (x Sent) get(r *http.Request, by member.Member, id string) (sentPage, error) {
	p, err := x.sent().One(r.Context(), by.CompanyID, id)
	if err != nil {
		return sentPage{}, err
	}
	page := sentPage{p, []sentRun{}}
	if p.Event == "" {
		return page, nil
	}
	var all []*chats.Run
	if all, err = x.Store.Runs.OfNotification(r.Context(), by.CompanyID, id, maxRuns); err != nil {
		return sentPage{}, err
	}
	rows, err := flows.RowsOf(r.Context(), x.Store, by.CompanyID, all)
	for _, row := range rows {
		page.Runs = append(page.Runs, sentRun{row.ID, row.Flow, row.Name, row.Number, row.State, row.StartedAt})
	}
	return page, err
}

// timeline responds with the events of a notification as a whole, without the states of its messages.
func (x Sent) timeline(r *http.Request, by member.Member, id string) (httpio.Rows[notify.Event], error) {
	events, err := x.sent().Timeline(r.Context(), by.CompanyID, id)
	return httpio.RowsOf(events), err
}

// request responds with the original request.
func (x Sent) request(r *http.Request, by member.Member, id string) (*notify.Request, error) {
	return x.sent().Request(r.Context(), by.CompanyID, id)
}

// filled responds with the template as recipient `n` receives it.
func (x Sent) filled(r *http.Request, by member.Member, id string) (*notify.Filled, error) {
	n, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("n"), "0"))
	if err != nil {
		return nil, carillon.Invalid("n", "Must be the number of a recipient, from 0")
	}
	return x.sent().Filled(r.Context(), by.CompanyID, id, n)
}

func (x Sent) cancel(r *http.Request, by member.Member, id string) (*notify.Canceled, error) {
	return x.Notify.Cancel(r.Context(), by.CompanyID, id, false)
}

// moveRequest moves a scheduled notification.
type moveRequest struct {
	At       string `json:"datetime_sending"`
	Timezone string `json:"timezone,omitempty"`
}

func (x Sent) move(r *http.Request, by member.Member, id string) (*notify.Moved, error) {
	o, err := form.Body[moveRequest](r)
	if err != nil {
		return nil, err
	}
	due, given, err := request.Schedule(o, time.Now())
	if err == nil && !given {
		err = carillon.Missing("datetime_sending")
	}
	if err != nil {
		return nil, err
	}
	return x.Notify.Move(r.Context(), by.CompanyID, id, due)
}

func (x Sent) resendable(r *http.Request, by member.Member, id string) (httpio.Rows[notify.Resendable], error) {
	all, err := x.sent().Resendable(r.Context(), by.CompanyID, id, time.Now())
	return httpio.RowsOf(all), err
}

const maxResend = time.Minute // time for which a resend blocks other resends of the notification

// resent is the new notification of a resend.
type resent struct {
	ID         string `json:"notification_id"`
	Recipients int    `json:"recipients"`
}

// resend sends a notification to failed recipients again, as a new notification. Resends of a notification run one at
// a time, so that each knows the results of the others.
func (x Sent) resend(r *http.Request, by member.Member, id string) (resent, error) {
	to, err := readResend(r)
	if err != nil {
		return resent{}, err
	}
	origin, err := x.sent().Origin(r.Context(), by.CompanyID, id)
	if err != nil {
		return resent{}, err
	}
	release, held, err := x.Gate.Limits.Hold(r.Context(), "resend "+by.CompanyID+" "+origin, maxResend)
	if err == nil && !held {
		err = &carillon.Error{Code: carillon.IdempotencyInProgress, Message: "It is being sent again just now", RetryAfter: 1}
	}
	if err != nil {
		return resent{}, err
	}
	defer release()
	s, as, err := x.sent().Resend(r.Context(), by.CompanyID, id, to, time.Now())
	if err == nil && as == "" {
		as, err = x.acceptResend(r, by, s)
	}
	if err != nil {
		return resent{}, err
	}
	return resent{as, len(to.Recipients)}, nil
}

// acceptResend accepts a resend and links it to the original. If the link cannot be stored, the next resend finds it
// by its key.
func (x Sent) acceptResend(r *http.Request, by member.Member, s *notify.Submission) (as string, err error) {
	as, err = x.Send.Accept(r, by, s, nil)
	if e, refused := errors.AsType[*carillon.Error](err); err != nil && (!refused || e.Code == carillon.ServiceUnavailable) {
		return "", err // unknown outcome: the resend may be stored
	}
	if linked := x.sent().Resent(context.WithoutCancel(r.Context()), by.CompanyID, s, as); err == nil {
		err = linked
	}
	return as, err
}

// resendRequest resends a notification; Recipients are positions in it.
type resendRequest struct {
	Recipients []int `json:"recipients"`
	Reached    bool  `json:"reached,omitempty"`
}

// readResend reads the recipients of a resend.
func readResend(r *http.Request) (to notify.Again, err error) {
	if to.Key, err = httpio.IdempotencyKey(r); err != nil {
		return to, err
	}
	o, err := form.Body[resendRequest](r)
	if err != nil {
		return to, err
	}
	if to.Reached, _, err = o.Bool("reached", "reached"); err != nil {
		return to, err
	}
	to.Recipients, err = readRecipients(o)
	return to, err
}

// readRecipients reads the positions of recipients in their notification.
func readRecipients(o *jsonbody.Object) (all []int, err error) {
	list, _, err := o.Array("recipients", "recipients")
	if err != nil {
		return nil, err
	}
	bad := carillon.Invalid("recipients", "At most "+strconv.Itoa(content.MaxRecipients)+" numbers of recipients, from 0")
	if len(list) > content.MaxRecipients {
		return nil, bad
	}
	for _, v := range list {
		text, ok := v.Scalar()
		n, err := strconv.Atoi(text)
		if !ok || err != nil || v.IsString() || n < 0 || slices.Contains(all, n) {
			return nil, bad
		}
		all = append(all, n)
	}
	return all, nil
}
