package conversation

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/store/events"
)

const (
	// presentFor is the time that a teammate stays present after the last sign of an open inbox. A sign comes with each
	// heartbeat of the inbox's stream, at most every signEvery.
	presentFor = 50 * time.Second
	signEvery  = 15 * time.Second
	// stayAfter is the time that a teammate stays present after closing the last inbox: reloading the page reopens it
	// immediately.
	stayAfter   = 5 * time.Second
	leaveWithin = 5 * time.Second
)

// Attendance tracks the teammates who have the inbox open on this node.
type Attendance struct {
	*core
	mu       sync.Mutex
	attended map[teammate]*attended
}

type teammate struct{ companyID, accountID string }

// attended is a teammate with open inboxes, or one who closed the last one recently.
type attended struct {
	by      By
	visits  int
	until   time.Time // end of the presence last recorded by this node
	away    bool
	shown   bool // screens show the teammate as present
	closing time.Time
}

// PresenceView is the payload of the inbox's event presence, which is not stored.
type PresenceView struct {
	AccountID string `json:"account_id"`
	Name      string `json:"name,omitempty"`
	Present   bool   `json:"present"`
	Away      bool   `json:"away"`
}

// Visit is one open inbox of a teammate.
type Visit struct {
	a  *Attendance
	by By
}

// Enter begins a visit; Leave ends it. The teammate is present from the first Stay on.
func (a *Attendance) Enter(by By) *Visit {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.attended[teammate{by.CompanyID, by.AccountID}]
	if x == nil {
		x = &attended{}
		a.attended[teammate{by.CompanyID, by.AccountID}] = x
	}
	x.by = by
	x.visits++
	return &Visit{a, by}
}

// Stay records that the inbox is still open.
func (v *Visit) Stay(ctx context.Context) error {
	now, key := v.a.now(), teammate{v.by.CompanyID, v.by.AccountID}
	v.a.mu.Lock()
	x := v.a.attended[key]
	recorded, shown := x.until.Add(signEvery-presentFor), x.shown
	v.a.mu.Unlock()
	if now.Before(recorded) {
		return nil
	}
	if shown { // unless another node, on which the teammate closed an inbox, has shown them as gone
		var err error
		if shown, err = v.a.present(ctx, v.by); err != nil {
			return err
		}
	}
	until := now.Add(presentFor)
	away, err := v.a.store.Attendance.Attend(ctx, v.by.CompanyID, v.by.AccountID, until)
	if err != nil {
		return err
	}
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	x.until = until
	if !shown || x.away != away {
		x.shown, x.away = true, away
		v.a.publish(v.by, true, away)
	}
	return nil
}

// Leave ends the visit.
func (v *Visit) Leave(ctx context.Context) {
	now, last := v.a.now(), v.end()
	if last.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	if err := v.a.store.Attendance.EndAttendance(ctx, v.by.CompanyID, v.by.AccountID, last, now.Add(stayAfter)); err != nil {
		v.a.o.Log.WarnContext(ctx, "record that a teammate left", "company", v.by.CompanyID, "error", err)
	}
}

// end counts the visit as ended. If it was the teammate's last one, end returns the end of the recorded presence.
func (v *Visit) end() (last time.Time) {
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	x := v.a.attended[teammate{v.by.CompanyID, v.by.AccountID}]
	if x.visits--; x.visits > 0 {
		return time.Time{}
	}
	last, x.until, x.closing = x.until, time.Time{}, v.a.now()
	return last
}

// SetAway records whether a teammate accepts no conversations although the inbox is open.
func (a *Attendance) SetAway(ctx context.Context, by By, away bool) (present bool, err error) {
	present, err = a.store.Attendance.SetAway(ctx, by.CompanyID, by.AccountID, away, a.now())
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if x := a.attended[teammate{by.CompanyID, by.AccountID}]; x != nil {
		x.away = away
	}
	a.publish(by, present, away)
	return present, nil
}

// run updates screens when a teammate has left and not come back.
func (a *Attendance) run(ctx context.Context) error {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			a.forget(ctx, a.now().Add(-stayAfter))
		}
	}
}

// forget drops the teammates who closed their last inbox on this node before the given time. Screens show them as gone
// unless they have an inbox open on another node.
func (a *Attendance) forget(ctx context.Context, before time.Time) {
	for _, x := range a.closed(before) {
		present, err := a.present(ctx, x.by)
		if err != nil {
			a.o.Log.WarnContext(ctx, "read whether a teammate is on another node", "company", x.by.CompanyID, "error", err)
		}
		if !present {
			a.publish(x.by, false, x.away)
		}
	}
}

// present reports whether a teammate has an inbox open on any node.
func (a *Attendance) present(ctx context.Context, by By) (bool, error) {
	all, err := a.store.Attendance.Present(ctx, by.CompanyID, a.now())
	return slices.ContainsFunc(all, func(p chats.Presence) bool { return p.AccountID == by.AccountID }), err
}

// closed removes the teammates who closed their last inbox before the given time. It returns those on screens.
func (a *Attendance) closed(before time.Time) (gone []*attended) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, x := range a.attended {
		if x.visits > 0 || x.closing.After(before) {
			continue
		}
		delete(a.attended, key)
		if x.shown {
			gone = append(gone, x)
		}
	}
	return gone
}

func (a *Attendance) publish(by By, present, away bool) {
	text, _ := json.Marshal(PresenceView{by.AccountID, by.Name, present, away}) // texts cannot fail
	a.o.Publisher.Publish(&events.Event{
		CompanyID: by.CompanyID, Topic: chats.InboxTopic, Kind: "presence", Subject: by.AccountID, Payload: text, At: a.now(),
	})
}
