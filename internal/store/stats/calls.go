package stats

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// callKey holds the common properties of calls that are counted together.
type callKey struct {
	Company  string         `json:"o"`
	Campaign string         `json:"c"`
	Hour     int64          `json:"h"`
	Class    carillon.Class `json:"t"`
	Sender   int64          `json:"s"`
	Agent    string         `json:"a,omitempty"`
	State    carillon.State `json:"e"`
}

func (k callKey) compare(other callKey) int {
	return cmp.Or(
		strings.Compare(k.Company, other.Company), strings.Compare(k.Campaign, other.Campaign), cmp.Compare(k.Hour, other.Hour),
		cmp.Compare(k.Class, other.Class), cmp.Compare(k.Sender, other.Sender), strings.Compare(k.Agent, other.Agent),
		strings.Compare(string(k.State), string(other.State)),
	)
}

// calls are numbers of calls by key.
type calls map[callKey]int64

// add adds numbers, sign times.
func (c calls) add(other calls, sign int64) {
	for k, n := range other {
		if c[k] += sign * n; c[k] == 0 {
			delete(c, k)
		}
	}
}

// counted counts a call by its state: one that waits is queued, one that takes a line is in progress.
func (c calls) counted(in *of, q int, state carillon.State) {
	switch {
	case q == 1:
		state = carillon.StateQueued
	case q > 1:
		state = carillon.StateInProgress
	}
	c[callKey{in.key.Company, in.key.Campaign, in.key.Hour, in.key.Class, in.key.Sender, in.agent, state}]++
}

type callPart struct {
	callKey

	N int64 `json:"n"`
}

// document returns the calls of a block in JSON; "" if there are none.
func (c calls) document() string {
	if len(c) == 0 {
		return ""
	}
	parts := make([]callPart, 0, len(c))
	for _, k := range slices.SortedFunc(maps.Keys(c), callKey.compare) {
		parts = append(parts, callPart{k, c[k]})
	}
	text, _ := json.Marshal(parts) // texts and numbers cannot fail
	return string(text)
}

// parsedCalls reads a block's calls.
func parsedCalls(doc string) (calls, error) {
	all := calls{}
	if doc == "" {
		return all, nil
	}
	var parts []callPart
	if err := json.Unmarshal([]byte(doc), &parts); err != nil {
		return nil, fmt.Errorf("read what was counted: %w", err)
	}
	for _, p := range parts {
		all[p.callKey] = p.N
	}
	return all, nil
}

// addCalls adds numbers to the hours, in key order.
func addCalls(ctx context.Context, tx *db.Tx, change calls) error {
	hours := calls{}
	for k, n := range change {
		of := digest(k.Campaign)
		for _, k.Campaign = range []string{"", of} {
			hours[k] += n
		}
	}
	rows := db.NewBulk("stat_call", "ON CONFLICT (company_id, campaign, hour, class, sender, agent, state) DO UPDATE SET "+
		"calls = stat_call.calls + excluded.calls",
		"company_id:text", "campaign:text", "hour:bigint", "class:bigint", "sender:bigint", "agent:text", "state:text", "calls:bigint")
	for _, k := range slices.SortedFunc(maps.Keys(hours), callKey.compare) {
		rows.Add(k.Company, k.Campaign, k.Hour, int64(k.Class), k.Sender, k.Agent, string(k.State), hours[k])
	}
	return rows.Write(ctx, tx)
}

// CallFilter narrows counts of calls; zero values do not filter.
type CallFilter struct {
	From, To  time.Time // instants of acceptance: the hours that begin in [From, To)
	Campaign  *string
	Class     *carillon.Class
	SenderUID int64
	AgentID   string
}

// CallHour holds the calls accepted in an hour, by state: queued while they wait, in_progress while they take a line.
type CallHour struct {
	At     time.Time
	States map[carillon.State]int64
}

// Calls returns the placed calls of a company by hour, in order and without empty hours.
func (s *Store) Calls(ctx context.Context, companyID string, f CallFilter) (hours []CallHour, err error) {
	of := Filter{From: f.From, To: f.To, Campaign: f.Campaign, Class: f.Class, SenderUID: f.SenderUID}
	where, args := of.where(companyID, of.campaign())
	if f.AgentID != "" {
		args = append(args, f.AgentID)
		where += " AND agent = $" + strconv.Itoa(len(args))
	}
	return callHours(ctx, s.d, "SELECT hour, state, calls FROM stat_call WHERE "+where+
		" ORDER BY company_id, campaign, hour", args...)
}

// callHours reads hours, states and numbers of calls in order of the hours.
func callHours(ctx context.Context, d *db.DB, query string, args ...any) (hours []CallHour, err error) {
	err = db.Each(ctx, d, func(scan db.Scan) error {
		var at, n int64
		var state carillon.State
		if err := scan(&at, &state, &n); err != nil {
			return err
		}
		hour := time.UnixMilli(at).UTC().Truncate(time.Hour)
		if len(hours) == 0 || !hours[len(hours)-1].At.Equal(hour) {
			hours = append(hours, CallHour{hour, map[carillon.State]int64{}})
		}
		hours[len(hours)-1].States[state] += n
		return nil
	}, query, args...)
	return hours, db.Wrap(err, "read counts of calls")
}

// Incoming returns the calls to a company's lines by the hour in which they began to ring, in order and without empty
// hours. It reads every call of the range, so the caller bounds it.
func (s *Store) Incoming(ctx context.Context, companyID string, f CallFilter) ([]CallHour, error) {
	args := []any{companyID, db.FirstID(f.From), db.FirstID(f.To)}
	where := ""
	add := func(column string, value any) {
		args = append(args, value)
		where += " AND " + column + " = $" + strconv.Itoa(len(args))
	}
	if f.SenderUID != 0 {
		add("sender", f.SenderUID)
	}
	if f.AgentID != "" {
		add("agent_id", f.AgentID)
	}
	return callHours(ctx, s.d, "SELECT ringing_at, state, 1 FROM incoming_call WHERE company_id = $1 AND id >= $2 AND id < $3"+where+
		" ORDER BY company_id, id", args...)
}
