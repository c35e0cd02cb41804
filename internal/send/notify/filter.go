package notify

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/schedule"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// ReadFilter reads the filter of a list of notifications from a query. none reports that nothing can match: the
// company has no such sender, or no such campaign can exist. Errors: validation_failed.
func ReadFilter(ctx context.Context, s *store.Store, companyID string, q url.Values) (f messages.Filter, none bool, err error) {
	f.Campaign = q.Get("campaign")
	none = !utf8.ValidString(f.Campaign) || strings.Contains(f.Campaign, "\x00")
	if number := q.Get("number"); number != "" {
		if !carillon.ValidNumber(number) {
			return f, false, carillon.BadNumber("number", number)
		}
		f.Lines = identity.Numbers(number)
	}
	if id := q.Get("user_id"); id != "" {
		if !identity.ValidUser(id) {
			return f, false, carillon.BadFormat("user_id", id, "The channel's id of a person", "US.13491208655302741918")
		}
		f.Lines = append(f.Lines, identity.User(id))
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
		named, err := s.Senders.SendersNamed(ctx, companyID, v)
		if err != nil || len(named) == 0 {
			return f, true, err
		}
		f.SenderUID = named[0].UID
	}
	return f, none, nil
}

// queryInstant reads a date, or a date-time with or without milliseconds and with `Z` or an offset. Without one it is
// UTC.
func queryInstant(q url.Values, name string) (time.Time, error) {
	v := q.Get(name)
	if v == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil {
		return t, nil
	}
	t, err := schedule.Parse(v, "UTC")
	if err != nil {
		const form = "ISO 8601 (YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, UTC unless it has an offset)"
		return time.Time{}, carillon.BadFormat(name, v, form, "2026-01-31T09:00:00")
	}
	return t, nil
}
