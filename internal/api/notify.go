package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/jsonbody"
	"carillon/internal/notify"
	"carillon/internal/request"
	"carillon/internal/store"
)

// notifyRoutes are endpoints 3 and 4 of interface.md and what decisions.md, section 3, adds beside them.
func (s *Server) notifyRoutes() []httpio.Route {
	return []httpio.Route{
		s.keyRoute("POST "+prefix+"/notify", auth.NotifySend, s.send(carillon.Messaging, "notify")),
		s.keyRoute("POST "+prefix+"/notify/voice", auth.VoiceSend, s.send(carillon.Voice, "notify/voice")),
		s.keyRoute("GET "+prefix+"/notify", auth.NotifyRead, s.listNotifications),
		s.keyRoute("GET "+prefix+"/notify/{id}", auth.NotifyRead, s.showNotification),
		s.keyRoute("DELETE "+prefix+"/notify/{id}", auth.NotifySend, s.cancelNotification),
		s.keyRoute("PATCH "+prefix+"/notify/{id}", auth.NotifySend, s.moveNotification),
		s.keyRoute("GET "+prefix+"/usage", auth.UsageRead, s.showUsage),
	}
}

const idempotencyHeader = "Idempotency-Key"

// send accepts a notification: `POST notify` and `POST notify/voice`.
func (s *Server) send(ch carillon.Channel, name string) func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	return func(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
		if err := s.Store.Full(); err != nil {
			return err
		}
		key, err := idempotencyKey(r)
		if err != nil {
			return err
		}
		sub := &notify.Submission{Company: p.Company, Channel: ch, Route: name, IdempotencyKey: key}
		if key != "" {
			done, replayed, err := s.repeat(w, r, sub)
			if err != nil || replayed {
				return err
			}
			defer done()
		}
		if _, err := s.Limits.Take(r.Context(), "send "+p.KeyID, p.Company.Limits.SendsPerMinute, 1); err != nil {
			return err
		}
		if sub.Flat, err = unflatten(r); err != nil {
			return err
		}
		if sub.Body == nil {
			if sub.Body, err = httpio.Body(w, r); err != nil {
				return err
			}
		}
		a, err := s.Notify.Accept(r.Context(), sub)
		if err != nil {
			return err
		}
		return writeAnswer(w, a)
	}
}

func writeAnswer(w http.ResponseWriter, a notify.Answer) error {
	if a.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	return httpio.Raw(w, http.StatusOK, a.JSON)
}

// repeat answers a request whose idempotency key has an answer already. Otherwise the key is reserved until done.
func (s *Server) repeat(w http.ResponseWriter, r *http.Request, sub *notify.Submission) (done func(), replayed bool, err error) {
	if sub.Body, err = httpio.Body(w, r); err != nil {
		return nil, false, err
	}
	sub.Hash = contentHash(r.URL.Query(), sub.Body)
	a, done, err := s.Notify.Repeat(r.Context(), sub.Company.ID, sub.Route, sub.IdempotencyKey, sub.Hash)
	if err != nil {
		return nil, false, err
	}
	if a.Replayed {
		return nil, true, writeAnswer(w, a)
	}
	return done, false, nil
}

// idempotencyKey reads the header: 1 to 255 printable characters.
func idempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
		return "", carillon.Invalid(idempotencyHeader, "One value of 1 to 255 printable ASCII characters")
	}
	return key, nil
}

// contentHash covers the body and the query but for the access key, which may be exchanged between repeats.
func contentHash(q url.Values, body []byte) string {
	q.Del("access_key")
	h := sha256.New()
	_, _ = h.Write([]byte(q.Encode()))
	_, _ = h.Write([]byte{'\n'})
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// unflatten reads the query parameter: exactly `true` or `false`, false when absent.
func unflatten(r *http.Request) (bool, error) {
	v, present := httpio.QueryValue(r.URL.RawQuery, "unflatten")
	if !present {
		return false, nil
	}
	switch v {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, carillon.BadFormat("unflatten", v, "true or false", "true")
	}
}

// notificationID reads the path's id; what is no UUID is no notification.
func notificationID(r *http.Request) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent("Notification")
	}
	return id, nil
}

func (s *Server) showNotification(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	id, err := notificationID(r)
	if err != nil {
		return err
	}
	page, err := readPage(r.URL.Query(), recipientsList)
	if err != nil {
		return err
	}
	first := 0
	if page.After != "" {
		if first, err = strconv.Atoi(page.After); err != nil || first < 0 {
			return badCursor(r)
		}
	}
	v, next, err := s.Notify.Find(r.Context(), p.Company.ID, id, first, page.Limit)
	if err != nil {
		return err
	}
	if next > 0 {
		v.NextCursor = encodeCursor(recipientsList, strconv.Itoa(next))
	}
	return httpio.JSON(w, http.StatusOK, v)
}

// The kinds of cursors.
const (
	recipientsList    = "recipients"
	notificationsList = "notifications"
)

func badCursor(r *http.Request) *carillon.Error {
	return carillon.InvalidValue("cursor", "Must be a next_cursor of this list", clip(r.URL.Query().Get("cursor")))
}

// notificationList is the answer to `GET notify`.
type notificationList struct {
	Data       []*notify.View `json:"data"`
	NextCursor *string        `json:"next_cursor"`
}

func (s *Server) listNotifications(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	page, err := readPage(r.URL.Query(), notificationsList)
	if err != nil {
		return err
	}
	f, none, err := s.filter(r, p.Company.ID)
	if err != nil {
		return err
	}
	list := notificationList{Data: []*notify.View{}}
	if none {
		return httpio.JSON(w, http.StatusOK, list)
	}
	f.Limit = page.Limit
	if page.After != "" && !carillon.ValidUUID(page.After) {
		return badCursor(r)
	}
	f.Before = page.After
	views, next, err := s.Notify.List(r.Context(), p.Company.ID, f)
	if err != nil {
		return err
	}
	list.Data = append(list.Data, views...)
	if next != "" {
		cursor := encodeCursor(notificationsList, next)
		list.NextCursor = &cursor
	}
	return httpio.JSON(w, http.StatusOK, list)
}

// filter reads the list's filters; none: a sender that the company does not have was asked for, or a campaign that nobody
// can have.
func (s *Server) filter(r *http.Request, companyID string) (f store.Filter, none bool, err error) {
	q := r.URL.Query()
	f.Campaign, f.Number = q.Get("campaign"), q.Get("number")
	none = !utf8.ValidString(f.Campaign) || strings.Contains(f.Campaign, "\x00")
	if f.Number != "" && !carillon.ValidNumber(f.Number) {
		return f, false, carillon.BadNumber("number", f.Number)
	}
	if v := q.Get("type"); v != "" {
		c, ok := carillon.ParseClass(v)
		if !ok {
			return f, false, carillon.InvalidValue("type", "One of transactional, utility, marketing", v)
		}
		f.Class = &c
	}
	if v := q.Get("channel"); v != "" {
		f.Channel = carillon.Channel(v)
		if f.Channel != carillon.Messaging && f.Channel != carillon.Voice {
			return f, false, carillon.InvalidValue("channel", "One of messaging, voice", v)
		}
	}
	if v := q.Get("state"); v != "" {
		f.State = carillon.State(v)
		states := []carillon.State{carillon.StateScheduled, carillon.StateInProgress, carillon.StateCompleted, carillon.StateCanceled}
		if !slices.Contains(states, f.State) {
			return f, false, carillon.InvalidValue("state", "One of scheduled, in_progress, completed, canceled", v)
		}
	}
	if f.From, err = queryInstant(q, "from"); err != nil {
		return f, false, err
	}
	if f.To, err = queryInstant(q, "to"); err != nil {
		return f, false, err
	}
	if v := q.Get("sender"); v != "" {
		unknown, err := s.filterSender(r, companyID, v, &f)
		return f, none || unknown, err
	}
	return f, none, err
}

func (s *Server) filterSender(r *http.Request, companyID, name string, f *store.Filter) (none bool, err error) {
	named, err := s.Store.SendersNamed(r.Context(), companyID, name)
	if err != nil || len(named) == 0 {
		return true, err
	}
	f.SenderUID = named[0].UID
	return false, nil
}

// queryInstant reads an instant: a date, or a date-time with milliseconds, `Z` or an offset; UTC where none is given.
func queryInstant(q url.Values, name string) (time.Time, error) {
	v := q.Get(name)
	if v == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil {
		return t, nil
	}
	t, err := carillon.ParseSchedule(v, "UTC")
	if err != nil {
		return time.Time{}, carillon.BadFormat(name, v, "ISO 8601 (YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, UTC unless it has an offset)", "2026-01-31T09:00:00")
	}
	return t, nil
}

func (s *Server) cancelNotification(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	id, err := notificationID(r)
	if err != nil {
		return err
	}
	c, err := s.Notify.Cancel(r.Context(), p.Company.ID, id)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, c)
}

func (s *Server) moveNotification(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	id, err := notificationID(r)
	if err != nil {
		return err
	}
	body, err := httpio.Body(w, r)
	if err != nil {
		return err
	}
	due, err := readMove(body, time.Now())
	if err != nil {
		return err
	}
	m, err := s.Notify.Move(r.Context(), p.Company.ID, id, due)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, m)
}

func readMove(body []byte, now time.Time) (time.Time, error) {
	o, err := jsonbody.Parse(body)
	if err != nil {
		return time.Time{}, err
	}
	due, given, err := request.Schedule(o, now)
	if err == nil && !given {
		err = carillon.Missing("datetime_sending")
	}
	return due, err
}

func (s *Server) showUsage(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	u, err := s.Notify.Usage(r.Context(), p.Company)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, u)
}
