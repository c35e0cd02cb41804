package inbox

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/chats"
)

const (
	maxBounds = 100
	maxTimes  = 400 * 24 * time.Hour
)

// responseTimes are those of the handoffs that began in a time: until the first reply of a teammate, and until the end.
// The median and the 90th percentile are in milliseconds, 0 without any.
type responseTimes struct {
	Handoffs   int64 `json:"handoffs"`
	Replied    int64 `json:"replied"`
	Resolved   int64 `json:"resolved"`
	ReplyP50   int64 `json:"reply_p50_ms"`
	ReplyP90   int64 `json:"reply_p90_ms"`
	ResolveP50 int64 `json:"resolve_p50_ms"`
	ResolveP90 int64 `json:"resolve_p90_ms"`
}

type teammateTimes struct {
	AccountID string `json:"account_id"`
	Name      string `json:"name"` // empty if the teammate has left
	responseTimes
}

type timesShown struct {
	Total     responseTimes   `json:"total"`
	Bins      []responseTimes `json:"bins"`      // between each two bounds
	Teammates []teammateTimes `json:"teammates"` // by the first reply
}

// times responds with how soon teammates replied to handoffs. The query has the bounds of bins as Unix seconds: only the
// caller knows the viewer's days.
func (x Inbox) times(r *http.Request, by member.Member) (timesShown, error) {
	bounds, err := readBounds(r.URL.Query())
	if err != nil {
		return timesShown{}, err
	}
	total, bins, of := &durations{}, make([]durations, len(bounds)-1), map[string]*durations{}
	if err := x.Store.Quality.EachHandoff(r.Context(), by.CompanyID, bounds[0], bounds[len(bounds)-1], func(t *chats.Times) {
		total.add(t)
		bins[sort.Search(len(bins), func(i int) bool { return t.At.Before(bounds[i+1]) })].add(t)
		if t.By != "" {
			if of[t.By] == nil {
				of[t.By] = &durations{}
			}
			of[t.By].add(t)
		}
	}); err != nil {
		return timesShown{}, err
	}
	shown := timesShown{Total: total.shown(), Bins: []responseTimes{}, Teammates: []teammateTimes{}}
	for i := range bins {
		shown.Bins = append(shown.Bins, bins[i].shown())
	}
	names, err := x.memberNames(r, by, len(of) > 0)
	for id, d := range of {
		shown.Teammates = append(shown.Teammates, teammateTimes{id, names[id], d.shown()})
	}
	slices.SortFunc(shown.Teammates, func(a, b teammateTimes) int {
		return cmp.Or(cmp.Compare(b.Handoffs, a.Handoffs), strings.Compare(a.AccountID, b.AccountID))
	})
	return shown, err
}

// memberNames returns the names of the company's members by account, if they are wanted.
func (x Inbox) memberNames(r *http.Request, by member.Member, wanted bool) (map[string]string, error) {
	names := map[string]string{}
	for after, more := "", wanted; more; {
		some, err := x.Store.Accounts.Members(r.Context(), by.CompanyID, after, membersAtOnce)
		if err != nil {
			return nil, err
		}
		for i := range some {
			names[some[i].ID] = cmp.Or(some[i].Name, some[i].Email)
			after = some[i].ID
		}
		more = len(some) == membersAtOnce
	}
	return names, nil
}

// readBounds reads at least two rising instants.
func readBounds(q url.Values) (bounds []time.Time, err error) {
	texts := strings.Split(q.Get("bounds"), ",")
	refused := carillon.InvalidValue("bounds", "Two to "+strconv.Itoa(maxBounds)+
		" rising Unix times in seconds, with commas between them, at most 400 days apart", carillon.Shorten(q.Get("bounds")))
	if len(texts) < 2 || len(texts) > maxBounds {
		return nil, refused
	}
	for i, text := range texts {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 || seconds > math.MaxInt32*int64(100) {
			return nil, refused
		}
		bounds = append(bounds, time.Unix(seconds, 0).UTC())
		if i > 0 && !bounds[i].After(bounds[i-1]) {
			return nil, refused
		}
	}
	if bounds[len(bounds)-1].Sub(bounds[0]) > maxTimes+time.Hour {
		return nil, refused
	}
	return bounds, nil
}

// durations are the times of handoffs, in milliseconds.
type durations struct {
	handoffs       int64
	reply, resolve []int64
}

func (d *durations) add(t *chats.Times) {
	d.handoffs++
	if !t.RepliedAt.IsZero() {
		d.reply = append(d.reply, max(t.RepliedAt.Sub(t.At).Milliseconds(), 1))
	}
	if !t.ResolvedAt.IsZero() {
		d.resolve = append(d.resolve, max(t.ResolvedAt.Sub(t.At).Milliseconds(), 1))
	}
}

func (d *durations) shown() responseTimes {
	slices.Sort(d.reply)
	slices.Sort(d.resolve)
	return responseTimes{
		d.handoffs, int64(len(d.reply)), int64(len(d.resolve)), percentile(d.reply, 50), percentile(d.reply, 90),
		percentile(d.resolve, 50), percentile(d.resolve, 90),
	}
}

// percentile returns the lowest of some sorted times that at least a percentage of them does not exceed; 0 if there
// are none.
func percentile(sorted []int64, p int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
