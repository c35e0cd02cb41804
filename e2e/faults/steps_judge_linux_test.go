package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/talk/flow"
)

// shownRun is a run as the panel shows it.
type shownRun struct {
	ID, State, Error, Number string
	Variables                map[string]string
	Entries                  []struct{ Path, Kind, Text string }
}

// panel sends a request to a node's panel.
func (s *stepSite) panel(token, path string, into any) {
	s.t.Helper()
	method, body := http.MethodGet, ""
	if token == "" {
		method, body = http.MethodPost, fmt.Sprintf(`{"email":%q,"password":%q}`, operator, password)
	}
	var last string
	if !await(s.t.Context(), 30*time.Second, func() bool {
		for _, n := range s.nodes {
			r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+n.addr+path, strings.NewReader(body))
			if err != nil {
				s.t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				last = err.Error()
				continue
			}
			last = resp.Status
			err = json.NewDecoder(resp.Body).Decode(into)
			_ = resp.Body.Close()
			if err == nil && resp.StatusCode == http.StatusOK {
				return true
			}
		}
		return false
	}) {
		s.t.Fatal(path, last)
	}
}

// shown returns all runs, by the number of the person.
func (s *stepSite) shown() map[string][]*shownRun {
	s.t.Helper()
	var in struct {
		Token string `json:"access_token"`
	}
	s.panel("", "/functions/v1/auth?grant_type=password", &in)
	all, cursor := map[string][]*shownRun{}, ""
	for {
		var page struct {
			Data []struct{ ID string }
			Next string `json:"next_cursor"`
		}
		s.panel(in.Token, "/panel/v1/flow-runs?limit=100&cursor="+cursor, &page)
		for _, row := range page.Data {
			run := new(shownRun)
			s.panel(in.Token, "/panel/v1/flow-runs/"+row.ID, run)
			all[run.Number] = append(all[run.Number], run)
		}
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// sentReply is a reply as stored, with the number of times the channel received it.
type sentReply struct {
	text, state string
	posts       int
}

func (s *stepSite) replies(number string) (all []sentReply) {
	s.t.Helper()
	rows, err := s.db.QueryContext(s.t.Context(), `SELECT r.conversation_id, r.seq, r.state, t.text FROM reply r
		JOIN turn t ON t.conversation_id = r.conversation_id AND t.seq = r.seq WHERE r.number = $1 ORDER BY r.seq`, number)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var conversation string
		var seq int64
		var r sentReply
		if err := rows.Scan(&conversation, &seq, &r.state, &r.text); err != nil {
			s.t.Fatal(err)
		}
		for ref, posts := range s.graph.All() {
			if strings.HasPrefix(ref, fmt.Sprintf("reply.%s.%d.", conversation, seq)) {
				r.posts += len(posts)
			}
		}
		all = append(all, r)
	}
	return all
}

// over reports whether all runs have ended.
func (s *stepSite) over() bool {
	return s.none("(SELECT COUNT(*) FROM flow_run WHERE state IN ('ready', 'asking', 'waiting', 'calling'))")
}

// settled reports whether all work has ended.
func (s *stepSite) settled() bool {
	return s.over() &&
		s.none(`(SELECT COUNT(*) FROM reply WHERE state IN ('queued', 'sending')) + (SELECT COUNT(*) FROM message WHERE q > 0)
		+ (SELECT COUNT(*) FROM call WHERE q > 0)`)
}

func (s *stepSite) none(count string) bool {
	n := 1
	err := s.db.QueryRowContext(s.t.Context(), "SELECT "+count).Scan(&n)
	return err == nil && n == 0
}

// judge compares the panel's data with the effects outside.
func (s *stepSite) judge(deaths []*death) {
	t := s.t
	t.Helper()
	within := 3 * time.Minute
	if s.source == "" {
		within = 40 * time.Second // less than any lease
	}
	s.awaiting(within, "the end of all runs", s.over)
	s.awaiting(3*time.Minute, "the end of what they did", s.settled)
	all := s.shown()
	notifications, unknown, undone := 0, 0, 0
	for _, d := range deaths {
		runs := all[d.number]
		if len(runs) != 1 {
			t.Errorf("%s, %s: %d runs", d.kind.name, d.name, len(runs))
			continue
		}
		s.judgeRun(d, runs[0])
		s.judgeReplies(d)
		s.judgeOutside(d, runs[0])
		if d.kind.name == "send_template" || d.kind.name == "place_call" {
			notifications++
		}
		if d.unknown {
			unknown++
			if s.asked[d.number] == 0 {
				undone++
			}
		}
	}
	n := 0
	if err := s.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM notification").Scan(&n); err != nil || n != notifications {
		t.Errorf("%d notifications of %d flows, %v", n, notifications, err)
	}
	t.Logf("%d kills, %d outcomes unknown", len(deaths), unknown)
}

// judgeRun checks that each step of a run happened once, in order.
func (s *stepSite) judgeRun(d *death, run *shownRun) {
	s.t.Helper()
	state := d.kind.state
	if state == "" {
		state = flow.Completed
	}
	if run.State != string(state) || run.Error != d.kind.failed {
		s.t.Errorf("%s, %s: the run is %s, error %q", d.kind.name, d.name, run.State, run.Error)
	}
	var log []string
	said := ""
	for _, e := range run.Entries {
		log = append(log, e.Path+" "+e.Kind)
		if e.Kind == "outcome" {
			said = e.Text
		}
	}
	if got, want := strings.Join(log, ", "), "steps.0 say, steps.1 ask, steps.1 response, "+d.kind.log; got != want {
		s.t.Errorf("%s, %s: the log is\n%s, not\n%s", d.kind.name, d.name, got, want)
	}
	if is := strings.Contains(said, "unknown"); d.kind.effect && is != d.unknown {
		s.t.Errorf("%s, %s: the outcome is %q", d.kind.name, d.name, said)
	}
}

// judgeReplies checks that each reply reached the channel once, or has an unknown outcome because its node was killed
// while sending it.
func (s *stepSite) judgeReplies(d *death) {
	s.t.Helper()
	want := []string{"Begin?"}
	if d.kind.replies != "" {
		want = append(want, strings.Split(d.kind.replies, "|")...)
	}
	if d.kind.name == "http" && d.unknown {
		want[len(want)-1] = "End yesunknown"
	}
	var got []string
	for _, r := range s.replies(d.number) {
		got = append(got, r.text)
		held := d.kind.name == "say" && d.unknown && r.text == "Said."
		if r.posts > 1 || r.state == "sent" && (r.posts != 1 || held) || r.state != "sent" && r.state != "unknown" {
			s.t.Errorf("%s, %s: the reply %q is %s and came to the channel %d times", d.kind.name, d.name, r.text, r.state, r.posts)
		}
	}
	if d.kind.state == "" && !slices.Equal(got, want) {
		s.t.Errorf("%s, %s: the replies are %q, not %q", d.kind.name, d.name, got, want)
	}
}

// judgeOutside checks that a flow's effects happened once, or at most once if the outcome is unknown.
func (s *stepSite) judgeOutside(d *death, run *shownRun) {
	s.t.Helper()
	switch d.kind.name {
	case "http":
		if n := s.asked[d.number]; n > 1 || n == 0 && !(d.unknown && d.undone) {
			s.t.Errorf("http, %s: the shop was asked %d times", d.name, n)
		}
	case "http read":
		keys := s.keys[d.number]
		if len(keys) == 0 || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 1 || keys[0] == "" {
			s.t.Errorf("http, %s: the shop was asked with the keys %q", d.name, keys)
		}
	case "send_template":
		taken, other := 0, 0
		for ref, posts := range s.graph.All() {
			for _, p := range posts {
				switch {
				case p.To != d.number || strings.HasPrefix(ref, "reply."):
				case strings.HasPrefix(ref, run.Variables["notification_id"]+"."):
					taken++
				default:
					other++
				}
			}
		}
		var reason string
		err := s.db.QueryRowContext(s.t.Context(), "SELECT COALESCE(reason, '') FROM message WHERE id >> 7 = $1",
			int64(carillon.SeqOf(run.Variables["notification_id"]))).Scan(&reason)
		if other > 0 || taken > 1 || taken == 0 && reason == "" || err != nil {
			s.t.Errorf("send_template, %s: %d messages and %d others, %q, %v", d.name, taken, other, reason, err)
		}
	case "place_call":
		var state, reason string
		err := s.db.QueryRowContext(s.t.Context(), "SELECT state, reason FROM call WHERE number = $1", d.number).Scan(&state, &reason)
		n := s.exchange.invited(d.number)
		if n > 1 || n == 0 && reason != "interrupted" || err != nil {
			s.t.Errorf("place_call, %s: %d calls, %s %s, %v", d.name, n, state, reason, err)
		}
	}
}

// TestFaultsStepsOverKills kills the program at every kind of step: in the transaction that stores it, right after
// that, and for effects also before they begin, while they are in progress, and before and after their outcome is
// stored. With two nodes, the other one continues when the leases of the killed one have expired.
func TestFaultsStepsOverKills(t *testing.T) {
	long(t)
	for name, c := range map[string]struct {
		engine    string
		addresses []string
	}{
		"sqlite":              {"sqlite", []string{"127.0.0.44"}},
		"postgres":            {"postgres", []string{"127.0.0.45"}},
		"postgres, two nodes": {"postgres", []string{"127.0.0.46", "127.0.0.47"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStepSite(t, c.engine, c.addresses...)
			var all []*death
			for _, k := range kindsOfSteps {
				for _, d := range k.deaths() {
					if len(c.addresses) > 1 && !d.outside {
						continue
					}
					s.kill(d)
					all = append(all, d)
				}
			}
			s.judge(all)
		})
	}
}

// TestEveryKindOfStepIsKilled fails if there is a kind of step without a kill.
func TestEveryKindOfStepIsKilled(t *testing.T) {
	err := (&flow.Flow{Name: "none", Steps: []flow.Step{{}}}).Validate()
	var invalid *carillon.Error
	if !errors.As(err, &invalid) {
		t.Fatal("a step of no kind is valid:", err)
	}
	_, names, _ := strings.Cut(fmt.Sprint(invalid.Details), "exactly one of ")
	names, _, _ = strings.Cut(names, ".")
	kinds := strings.Split(strings.ReplaceAll(names, " and ", ", "), ", ")
	if len(kinds) < 11 {
		t.Fatal(invalid.Details)
	}
	for _, kind := range kinds {
		if !slices.ContainsFunc(kindsOfSteps, func(k kindOfStep) bool { return k.name == kind }) {
			t.Errorf("no step of kind %s is killed", kind)
		}
	}
}
