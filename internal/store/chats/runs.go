package chats

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon/internal/store/db"
)

// Run is a run of a flow. Its states are those of package flow; Open, Due and Begun control its execution by nodes.
type Run struct {
	ID             string
	CompanyID      string
	FlowID         string
	Version        int
	ConversationID string
	Cause          string // event, keyword, widget, inbound or test
	Event          string // for cause event: the name_event
	NotificationID string // notification that started it; empty if none
	Rev            int
	State          string
	Open           bool // not ended
	Place          int
	Path           string // path of the step at Place
	Variables      map[string]string
	Question       string
	Tries          int
	Steps          int
	Alone          int
	Entries        int       // number of entries written
	Due            time.Time // time of its next step; zero if none
	Begun          bool      // its external effect was begun
	Node           string    // by this node
	Error          string
	StartedAt      time.Time
	ChangedAt      time.Time
}

// RunEntry is an entry in the log of a run.
type RunEntry struct {
	Seq     int
	At      time.Time
	Path    string
	Kind    string
	Text    string
	Changed map[string]string // changed variables
}

// RunWrite is a new state of a run with its log entries. Run.Rev is the revision that was read; 0 for a new run.
type RunWrite struct {
	Run     *Run
	Entries []RunEntry // Seq is set by the store
}

// FlowVersion is a published version of a flow.
type FlowVersion struct {
	FlowID     string
	Version    int
	Definition string
	CreatedAt  time.Time
}

// Runs is the SQL of runs of flows. A run is written in the transaction of its conversation's change (chats.Change), so
// that the output of a step and the state of the run are always consistent. Its methods are safe for concurrent use.
type Runs struct{ d *db.DB }

// NewRuns returns the store of a database.
func NewRuns(d *db.DB) *Runs { return &Runs{d} }

const runColumns = `id, company_id, flow_id, version, conversation_id, cause, event, notification_id, rev, state, place, path,
	variables, question,
	tries, steps, alone, entries, due_at, begun, error, started_at, changed_at, node`

func scanRun(row db.Scan) (*Run, error) {
	var r Run
	var variables string
	var due, started, changed int64
	if err := row(&r.ID, &r.CompanyID, &r.FlowID, &r.Version, &r.ConversationID, &r.Cause, &r.Event, &r.NotificationID, &r.Rev,
		&r.State, &r.Place,
		&r.Path, &variables, &r.Question, &r.Tries, &r.Steps, &r.Alone, &r.Entries, &due, &r.Begun, &r.Error,
		&started, &changed, &r.Node); err != nil {
		return nil, err
	}
	switch r.State {
	case "ready", "asking", "waiting", "calling":
		r.Open = true
	}
	r.Due, r.StartedAt, r.ChangedAt = db.Instant(due), db.Instant(started), db.Instant(changed)
	return &r, json.Unmarshal([]byte(variables), &r.Variables)
}

const runIsOpen = "state IN ('ready', 'asking', 'waiting', 'calling')"

// Current returns the open run of a conversation; nil if there is none.
func (s *Runs) Current(ctx context.Context, companyID, conversationID string) (*Run, error) {
	return db.Find(ctx, s.d, "flow run", scanRun,
		"SELECT "+runColumns+" FROM flow_run WHERE conversation_id = $1 AND "+runIsOpen+" AND company_id = $2", conversationID, companyID)
}

// Find returns a run of a company; nil if there is none.
func (s *Runs) Find(ctx context.Context, companyID, id string) (*Run, error) {
	return db.Find(ctx, s.d, "flow run", scanRun, "SELECT "+runColumns+" FROM flow_run WHERE id = $1 AND company_id = $2", id, companyID)
}

// OfConversation returns at most `most` runs of a conversation, newest first.
func (s *Runs) OfConversation(ctx context.Context, companyID, conversationID string, most int) ([]*Run, error) {
	return db.Collect(ctx, s.d, "flow runs", scanRun, "SELECT "+runColumns+` FROM flow_run WHERE conversation_id = $1 AND company_id = $2
		ORDER BY started_at DESC LIMIT $3`, conversationID, companyID, most)
}

// Begun reports whether a notification has started a run in a conversation of a company.
func (s *Runs) Begun(ctx context.Context, companyID, conversationID, notificationID string) (bool, error) {
	n := 0
	err := s.d.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM flow_run WHERE conversation_id = $1 AND company_id = $2 AND notification_id = $3",
		conversationID, companyID, notificationID)
	return n > 0, db.Wrap(err, "find flow runs")
}

// OfNotification returns at most `most` runs started by a company's notification, oldest first.
func (s *Runs) OfNotification(ctx context.Context, companyID, notificationID string, most int) ([]*Run, error) {
	return db.Collect(ctx, s.d, "flow runs", scanRun,
		"SELECT "+runColumns+` FROM flow_run WHERE notification_id = $1 AND notification_id <> '' AND company_id = $2
		ORDER BY started_at LIMIT $3`, notificationID, companyID, most)
}

// RunPage is the position of a list: the last run of the previous page.
type RunPage struct {
	StartedAt time.Time
	ID        string
}

// RunFilter narrows a list of runs.
type RunFilter struct {
	FlowID string // empty for all flows
	Failed bool   // only failed runs
}

// List returns runs of a company, newest first.
func (s *Runs) List(ctx context.Context, companyID string, f RunFilter, after *RunPage, limit int) ([]*Run, error) {
	where, args := "company_id = $1", []any{companyID, limit}
	if f.FlowID != "" {
		args = append(args, f.FlowID)
		where += fmt.Sprintf(" AND flow_id = $%d", len(args))
	}
	if f.Failed {
		where += " AND state = 'failed'"
	}
	if after != nil {
		args = append(args, db.Millis(after.StartedAt), after.ID)
		where += fmt.Sprintf(" AND (started_at, id) < ($%d, $%d)", len(args)-1, len(args))
	}
	return db.Collect(ctx, s.d, "flow runs", scanRun,
		"SELECT "+runColumns+" FROM flow_run WHERE "+where+" ORDER BY started_at DESC, id DESC LIMIT $2", args...)
}

// Count returns the number of runs of a company's flow started since an instant, at most `most`.
func (s *Runs) Count(ctx context.Context, companyID, flowID string, since time.Time, most int) (n int, err error) {
	err = s.d.Row(ctx, []any{&n}, `SELECT COUNT(*) FROM (SELECT 1 FROM flow_run WHERE company_id = $1 AND flow_id = $2 AND `+
		`started_at >= $3 LIMIT $4) AS x`,
		companyID, flowID, db.Millis(since), most)
	return n, db.Wrap(err, "count flow runs")
}

// RunPerson is the contact of a conversation.
type RunPerson struct {
	Name     string
	Number   string
	Username string
	Channel  string
}

// People returns the contacts of some of a company's conversations, by conversation.
func (s *Runs) People(ctx context.Context, companyID string, conversations []string) (map[string]RunPerson, error) {
	all := make(map[string]RunPerson, len(conversations))
	err := db.Each(ctx, s.d, func(row db.Scan) error {
		var id string
		var p RunPerson
		err := row(&id, &p.Name, &p.Number, &p.Username, &p.Channel)
		all[id] = p
		return err
	}, "SELECT v.id, k.name, k.number, k.username, v.channel FROM conversation v JOIN contact k ON k.id = v.contact_id "+
		"WHERE v.company_id = $1 AND v.id "+s.d.In(2),
		companyID, s.d.List(conversations))
	return all, db.Wrap(err, "read who talks")
}

// Entries returns the log of a company's run, in order.
func (s *Runs) Entries(ctx context.Context, companyID, runID string) ([]RunEntry, error) {
	return db.Collect(ctx, s.d, "flow entries", func(row db.Scan) (e RunEntry, err error) {
		var at int64
		var changed string
		if err = row(&e.Seq, &at, &e.Path, &e.Kind, &e.Text, &changed); err == nil && changed != "" {
			err = json.Unmarshal([]byte(changed), &e.Changed)
		}
		e.At = db.Instant(at)
		return e, err
	}, `SELECT e.seq, e.at, e.path, e.kind, e.text, e.changed FROM flow_entry e JOIN flow_run r ON r.id = e.run_id
		WHERE e.run_id = $1 AND r.company_id = $2 ORDER BY e.seq`, runID, companyID)
}

// Due returns runs of any company that are due, longest first, and the due time of the next one; zero if there is
// none.
func (s *Runs) Due(ctx context.Context, now time.Time, most int) (due []*Run, next time.Time, err error) {
	due, err = db.Collect(ctx, s.d, "due flow runs", scanRun,
		"SELECT "+runColumns+` FROM flow_run WHERE due_at > 0 AND due_at <= $1 AND state <> 'calling'`+db.Here+`
		ORDER BY due_at LIMIT $2`, db.Millis(now), most)
	if err != nil {
		return nil, next, err
	}
	var at int64
	err = s.d.Row(ctx, []any{&at},
		"SELECT COALESCE(MIN(due_at), 0) FROM flow_run WHERE due_at > 0 AND due_at > $1 AND state <> 'calling'", db.Millis(now))
	return due, db.Instant(at), db.Wrap(err, "find the next flow run")
}

// Calls returns runs of any company, except those in `without`, whose effect is due, longest first.
func (s *Runs) Calls(ctx context.Context, now time.Time, most int, without []string) ([]*Run, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "effects of flow runs", scanRun,
		"SELECT "+runColumns+" FROM flow_run WHERE due_at > 0 AND due_at <= $1 AND state = 'calling'"+
			db.Here+others+" ORDER BY due_at LIMIT $2", args...)
}

// Recover makes effects due again that were begun by dead nodes. alone means that this process is the only user of the
// database, so all of them are.
func (s *Runs) Recover(ctx context.Context, now time.Time, alone bool) error {
	gone := ""
	if !alone {
		gone = " AND node <> '' AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.id = flow_run.node)"
	}
	_, err := s.d.Exec(ctx, "UPDATE flow_run SET due_at = $1 WHERE due_at > 0 AND due_at > $1 AND begun"+gone, db.Millis(now))
	return db.Wrap(err, "recover effects of flow runs")
}

// Definition returns a version of a company's flow; "" if there is none.
func (s *Runs) Definition(ctx context.Context, companyID, flowID string, version int) (string, error) {
	v, err := db.Find(ctx, s.d, "flow version", func(row db.Scan) (*string, error) {
		var text string
		err := row(&text)
		return &text, err
	}, "SELECT definition FROM flow_version WHERE company_id = $1 AND flow_id = $2 AND version = $3", companyID, flowID, version)
	if err != nil || v == nil {
		return "", err
	}
	return *v, nil
}

// Versions returns at most `most` versions of a company's flow, newest first, without their definitions.
func (s *Runs) Versions(ctx context.Context, companyID, flowID string, most int) ([]FlowVersion, error) {
	return db.Collect(ctx, s.d, "flow versions", func(row db.Scan) (v FlowVersion, err error) {
		var at int64
		err = row(&v.FlowID, &v.Version, &at)
		v.CreatedAt = db.Instant(at)
		return v, err
	}, "SELECT flow_id, version, created_at FROM flow_version WHERE company_id = $1 AND "+
		"flow_id = $2 ORDER BY version DESC LIMIT $3", companyID, flowID, most)
}

// Kept returns the version number of a definition; 0 if it was never kept.
func (s *Runs) Kept(ctx context.Context, companyID, flowID, digest string) (int, error) {
	v, err := db.Find(ctx, s.d, "flow version", func(row db.Scan) (*int, error) {
		var n int
		err := row(&n)
		return &n, err
	}, "SELECT version FROM flow_version WHERE company_id = $1 AND flow_id = $2 AND digest = $3", companyID, flowID, digest)
	if err != nil || v == nil {
		return 0, err
	}
	return *v, nil
}

// Keep returns the version number of a definition, and stores it if it is new. Nodes that keep the same one
// concurrently get the same number. If a company's versions become too large, the oldest ones are deleted.
func (s *Runs) Keep(ctx context.Context, companyID, flowID, digest, definition string, now time.Time) (int, error) {
	for range 10 { // a concurrent definition may have taken the number
		if v, err := s.Kept(ctx, companyID, flowID, digest); err != nil || v > 0 {
			return v, err
		}
		if _, err := s.d.Exec(ctx, `INSERT INTO flow_version (company_id, flow_id, version, digest, definition, created_at)
			SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), COALESCE(MAX(version), 0) + 1, CAST($3 AS TEXT), CAST($4 AS TEXT),
				CAST($5 AS BIGINT) FROM flow_version WHERE company_id = $1 AND flow_id = $2
			ON CONFLICT DO NOTHING`, companyID, flowID, digest, definition, db.Millis(now)); err != nil {
			return 0, db.Wrap(err, "keep a version of a flow")
		}
		if err := s.prune(ctx, companyID); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("keep a version of the flow %s: others are kept at once, again and again", flowID)
}

const (
	// MaxFlowVersionBytes bounds the total size of a company's flow versions, in bytes.
	MaxFlowVersionBytes = 64 << 20
	maxPrune            = 5 // versions examined at a time
)

// prune deletes the oldest versions of a company's flows while their total is too large, except those needed by open
// runs and the newest of each existing flow.
func (s *Runs) prune(ctx context.Context, companyID string) error {
	for {
		used := 0
		err := s.d.Row(ctx, []any{&used},
			"SELECT COALESCE(SUM(OCTET_LENGTH(definition)), 0) FROM flow_version WHERE company_id = $1", companyID)
		if err != nil || used <= MaxFlowVersionBytes {
			return db.Wrap(err, "measure versions of flows")
		}
		old, err := db.Collect(ctx, s.d, "flow versions", func(row db.Scan) (v FlowVersion, err error) {
			err = row(&v.FlowID, &v.Version)
			return v, err
		}, `SELECT v.flow_id, v.version FROM flow_version AS v WHERE v.company_id = $1
			AND (EXISTS (SELECT 1 FROM flow_version AS newer WHERE newer.company_id = $1 AND newer.flow_id = v.flow_id
				AND newer.version > v.version)
				OR NOT EXISTS (SELECT 1 FROM resource AS f WHERE f.company_id = $1 AND f.kind = 'flow' AND f.id = v.flow_id))
			AND NOT EXISTS (SELECT 1 FROM flow_run AS r WHERE r.company_id = $1 AND r.flow_id = v.flow_id AND r.version = v.version
				AND r.state IN ('ready', 'asking', 'waiting', 'calling'))
			ORDER BY v.created_at LIMIT $2`, companyID, maxPrune)
		if err != nil || len(old) == 0 {
			return err
		}
		for _, v := range old {
			if _, err := s.d.Exec(ctx, "DELETE FROM flow_version WHERE company_id = $1 AND flow_id = $2 AND version = $3",
				companyID, v.FlowID, v.Version); err != nil {
				return db.Wrap(err, "remove a version of a flow")
			}
		}
	}
}
