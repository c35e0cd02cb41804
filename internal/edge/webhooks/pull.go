package webhooks

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/hook"
	"carillon/internal/store/events"
)

const (
	maxWait   = 25 // maximum long-polling time in seconds
	lookEvery = 500 * time.Millisecond
)

// pulledPage is a response of pull. NextCursor is always set, even if there are no new events.
type pulledPage struct {
	Data       []*hook.Body `json:"data"`
	NextCursor string       `json:"next_cursor"`
	HasMore    bool         `json:"has_more"`
}

// pull responds with the events after a cursor, earliest first. Without a cursor it responds with no events and the
// current position. The first call turns on storage of the company's events, which ends after a week without calls.
func (d webhooks) pull(r *http.Request, companyID string) (pulledPage, error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(url.Values{"limit": q["limit"]}, "events") // the cursor has a different format
	if err != nil {
		return pulledPage{}, err
	}
	seconds, err := readWait(q.Get("wait"))
	if err != nil {
		return pulledPage{}, err
	}
	var kinds []string
	if text := q.Get("types"); text != "" {
		kinds = strings.Split(text, ",")
		for _, kind := range kinds {
			if !slices.Contains(hook.Types(), kind) {
				return pulledPage{}, carillon.InvalidValue(
					"types", "Must be types of events, with commas between them", carillon.Shorten(kind),
				)
			}
		}
	}
	ctx := r.Context()
	for _, topic := range events.Topics() {
		if err := d.store.Events.FollowPull(ctx, companyID, topic); err != nil {
			return pulledPage{}, err
		}
	}
	last, err := d.store.Events.LastOfTopics(ctx, companyID)
	if err != nil {
		return pulledPage{}, err
	}
	if !q.Has("cursor") {
		return pulledPage{Data: []*hook.Body{}, NextCursor: hook.Position(last).String()}, nil
	}
	at, ok := hook.ReadPosition(q.Get("cursor"))
	if !ok {
		return pulledPage{}, httpio.BadCursor(q)
	}
	if seconds > 0 && !at.Behind(last) {
		place, err := httpio.Follow(r, share.Holder{Company: companyID})
		if err != nil {
			return pulledPage{}, err
		}
		defer place.Release()
	}
	for until := time.Now().Add(time.Duration(seconds) * time.Second); !at.Behind(last) && time.Now().Before(until) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(min(lookEvery, time.Until(until))):
		}
		if last, err = d.store.Events.LastOfTopics(ctx, companyID); err != nil {
			return pulledPage{}, err
		}
	}
	return d.after(ctx, companyID, at, last, kinds, page.Limit)
}

func readWait(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n > maxWait {
		return 0, carillon.BadFormat("wait", carillon.Shorten(text), "Whole number of seconds from 0 to "+strconv.Itoa(maxWait), maxWait)
	}
	return int(n), nil
}

// after reads the events after a position, of the topics with newer ones. Events are ordered by time across topics, and by
// commit within a topic.
func (d webhooks) after(
	ctx context.Context, companyID string, at hook.Position, last map[string]int64, kinds []string, limit int,
) (pulledPage, error) {
	var waiting [][]events.Event // by topic
	for _, topic := range hook.Pulled() {
		if last[topic] <= at[topic] {
			waiting = append(waiting, nil)
			continue
		}
		read, err := d.store.Topics.EventsAfter(ctx, companyID, topic, at[topic], limit+1)
		if err != nil {
			return pulledPage{}, err
		}
		if len(read) == 0 { // they are deleted; a cursor before them would never wait
			at[topic] = last[topic]
		}
		waiting = append(waiting, read)
	}
	page := pulledPage{Data: []*hook.Body{}}
	for taken := 0; ; taken++ {
		topic := earliest(waiting)
		if topic < 0 {
			break
		}
		if page.HasMore = taken == limit; page.HasMore {
			break
		}
		e := &waiting[topic][0]
		b, err := hook.BodyOf(e)
		if err != nil {
			return pulledPage{}, err
		}
		if kinds == nil || slices.Contains(kinds, b.Type) {
			if page.HasMore = httpio.Fit(append(page.Data, b)) <= len(page.Data); page.HasMore {
				break
			}
			page.Data = append(page.Data, b)
		}
		at[e.Topic], waiting[topic] = e.Seq, waiting[topic][1:]
	}
	page.NextCursor = at.String()
	return page, nil
}

// earliest returns the index of the list whose first event is the earliest, or -1 if all lists are empty.
func earliest(lists [][]events.Event) int {
	first := -1
	for i, list := range lists {
		if len(list) > 0 && (first < 0 || list[0].At.Before(lists[first][0].At)) {
			first = i
		}
	}
	return first
}
