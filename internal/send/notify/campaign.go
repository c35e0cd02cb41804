package notify

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/calls"
	"carillon/internal/store/messages"
)

// Reached is a recipient of a campaign with the outcome.
type Reached struct {
	NotificationID string           `json:"notification_id"`
	N              int              `json:"n"`
	Channel        carillon.Channel `json:"channel"`
	Number         string           `json:"number"`            // empty if the message goes to an id
	UserID         string           `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
	Name           string           `json:"name,omitempty"`    // of a person without a number
	State          carillon.State   `json:"state"`
	Reason         carillon.Reason  `json:"reason,omitempty"`
	Detail         string           `json:"detail,omitempty"`
	Attempts       int              `json:"attempts"`
	CreatedAt      string           `json:"created_at"`
	SentAt         string           `json:"sent_at,omitempty"`      // for a call: when it was dialed
	DeliveredAt    string           `json:"delivered_at,omitempty"` // for a call: when it was answered
	ReadAt         string           `json:"read_at,omitempty"`
	EndedAt        string           `json:"ended_at,omitempty"`
	ClickedAt      string           `json:"clicked_at,omitempty"` // first use of a counted link
}

// ReachedFilter filters the recipients of a campaign. Zero values do not filter.
type ReachedFilter struct {
	States []carillon.State // any of these
	Reason carillon.Reason
}

// Fits reports whether a recipient passes the filter.
func (f *ReachedFilter) Fits(r *Reached) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, r.State)) && (f.Reason == "" || f.Reason == r.Reason)
}

func (f *ReachedFilter) narrows() bool { return len(f.States) > 0 || f.Reason != "" }

const (
	maxReached    = 2000 // recipients that one page examines
	reachedPage   = 200  // recipients per step without a filter
	maxNotified   = 500  // notifications read at a time
	reachedBefore = "/"  // separates the id and the index in a cursor
)

// Recipients iterates over the recipients of a campaign, those of its newest notification first. It finds the
// campaign's notifications in the same way as the list of notifications, so it includes those that were just accepted.
type Recipients struct {
	sent      Sent
	companyID string
	name      string
	waiting   []*messages.Notification // notifications whose recipients come next
	from      int                      // index of the next recipient in the first of them
	before    string                   // cursor of the notifications after those
	end       bool                     // there are no further notifications
}

// Campaign returns an iterator over the recipients of a campaign.
func (x Sent) Campaign(companyID, name string) *Recipients {
	return &Recipients{sent: x, companyID: companyID, name: name}
}

// After continues after the recipient that a cursor identifies. ok is false for an invalid cursor.
func (w *Recipients) After(ctx context.Context, cursor string) (ok bool, err error) {
	id, place, _ := strings.Cut(cursor, reachedBefore)
	n, err := strconv.Atoi(place)
	if err != nil || n < 0 || !carillon.ValidUUID(id) {
		return false, nil //nolint:nilerr // invalid number
	}
	w.before, w.from = id, n+1
	w.waiting, err = w.sent.Store.Notifications.Of(ctx, w.companyID, []string{id})
	if len(w.waiting) > 0 && w.waiting[0].Campaign != w.name {
		return false, err
	}
	if len(w.waiting) == 0 { // deleted in the meantime
		w.from = 0
	}
	return true, err
}

// cursorOf returns the cursor of a recipient.
func cursorOf(r *Reached) string { return r.NotificationID + reachedBefore + strconv.Itoa(r.N) }

// Next returns about `most` further recipients, or none at the end.
func (w *Recipients) Next(ctx context.Context, most int) ([]Reached, error) {
	for len(w.waiting) == 0 {
		if w.end {
			return nil, nil
		}
		f := messages.Filter{Campaign: w.name, Before: w.before, Limit: min(most, maxNotified)}
		found, next, err := w.sent.Store.Notifications.List(ctx, w.companyID, f, time.Now())
		if err != nil {
			return nil, err
		}
		w.waiting, w.before, w.end = found, next, next == ""
	}
	count, some := 0, 0
	for some < len(w.waiting) && (some == 0 || count+w.waiting[some].Total <= most) {
		count += w.waiting[some].Total
		some++
	}
	all, err := w.sent.reached(ctx, w.waiting[:some], w.from)
	w.waiting, w.from = w.waiting[some:], 0
	if err == nil && len(all) == 0 { // the notification in the cursor had no more recipients
		return w.Next(ctx, most)
	}
	return all, err
}

// reached returns the recipients of notifications; of the first notification only those from index from on.
func (x Sent) reached(ctx context.Context, found []*messages.Notification, from int) ([]Reached, error) {
	messaging, voice := byChannel(found)
	messages, err := x.Store.Messages.ListAll(ctx, messaging)
	if err != nil {
		return nil, err
	}
	called, err := x.Store.Calls.Of(ctx, voice)
	if err != nil {
		return nil, err
	}
	var all []Reached
	now := time.Now()
	for i, n := range found {
		if c := called[n.Seq()]; c != nil && (i > 0 || from == 0) {
			all = append(all, reachedByCall(n, c, now))
		}
		list := messages[n.Seq()]
		for j := range list {
			if i > 0 || list[j].N >= from {
				all = append(all, reachedByMessage(n, &list[j], now))
			}
		}
	}
	if len(found) == 0 {
		return all, nil
	}
	return all, nameAll(ctx, x.Store, found[0].CompanyID, all, func(r *Reached) (string, *string) { return r.UserID, &r.Name })
}

func reachedByMessage(n *messages.Notification, m *messages.Message, now time.Time) Reached {
	number, userID := identity.Split(m.Number)
	return Reached{
		NotificationID: n.ID, N: m.N, Channel: n.Channel, Number: number, UserID: userID,
		State: stateOf(n, m.Q, m.Rank, m.Attempts > 0, now), Reason: m.Reason, Detail: m.Detail,
		Attempts: m.Attempts, CreatedAt: instant(n.CreatedAt), SentAt: instant(m.SentAt),
		DeliveredAt: instant(m.DeliveredAt), ReadAt: instant(m.ReadAt), EndedAt: instant(m.EndedAt),
		ClickedAt: instant(m.ClickedAt),
	}
}

func reachedByCall(n *messages.Notification, c *calls.Call, now time.Time) Reached {
	return Reached{
		NotificationID: n.ID, Channel: n.Channel, Number: c.Number, State: callState(n, c, now), Reason: c.Reason, Detail: c.Cause,
		Attempts: c.Dials, CreatedAt: instant(n.CreatedAt), SentAt: instant(c.DialedAt),
		DeliveredAt: instant(c.AnsweredAt), EndedAt: instant(c.EndedAt),
	}
}

// List returns a page of matching recipients. next is the cursor of the next page, "" after the last. A page ends
// early once it has examined maxReached recipients, even if it is empty.
func (w *Recipients) List(ctx context.Context, f ReachedFilter, limit int) (found []Reached, next string, err error) {
	at := reachedPage
	if f.narrows() {
		at = maxNotified
	}
	for looked := 0; looked < maxReached; {
		some, err := w.Next(ctx, at)
		if err != nil || len(some) == 0 {
			return found, "", err
		}
		for i := range some {
			if next = cursorOf(&some[i]); f.Fits(&some[i]) {
				found = append(found, some[i])
			}
			if len(found) == limit {
				return found, next, nil
			}
		}
		looked += len(some)
	}
	return found, next, nil
}

// Why counts failed and skipped recipients by reason, among the next maxReached recipients. next is the cursor of the
// recipients after those, "" after the last.
func (w *Recipients) Why(ctx context.Context) (reasons map[carillon.Reason]int, looked int, next string, err error) {
	reasons = map[carillon.Reason]int{}
	for looked < maxReached {
		some, err := w.Next(ctx, maxReached)
		if err != nil || len(some) == 0 {
			return reasons, looked, "", err
		}
		for i := range some {
			if r := &some[i]; r.Reason != "" && r.State != carillon.StateCanceled {
				reasons[r.Reason]++
			}
		}
		looked, next = looked+len(some), cursorOf(&some[len(some)-1])
	}
	return reasons, looked, next, nil
}
