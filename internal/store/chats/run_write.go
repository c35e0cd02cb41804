package chats

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"carillon/internal/store/db"
)

// LockedRuns holds a transaction's locked conversations: the revision of each open run.
type LockedRuns struct {
	runs  map[string]openRun // by conversation
	rows  []*Run
	log   *db.Bulk
	stops map[string]time.Time // conversations with stopped runs, and the time
}

type openRun struct {
	id  string
	rev int
}

// LockRuns reads the runs of conversations whose rows the transaction has locked, so nobody else writes them.
func LockRuns(ctx context.Context, tx *db.Tx, conversations []string) (*LockedRuns, error) {
	x := &LockedRuns{
		runs: map[string]openRun{}, stops: map[string]time.Time{},
		log: db.NewBulk("flow_entry", "", "run_id:text", "seq:bigint", "at:bigint", "path:text", "kind:text", "text:text", "changed:text"),
	}
	if len(conversations) == 0 {
		return x, nil
	}
	err := db.Each(ctx, tx, func(row db.Scan) error {
		var conversation string
		var o openRun
		err := row(&conversation, &o.id, &o.rev)
		x.runs[conversation] = o
		return err
	}, "SELECT conversation_id, id, rev FROM flow_run WHERE conversation_id "+tx.DB().In(1)+" AND "+runIsOpen, tx.DB().List(conversations))
	return x, db.Wrap(err, "read flow runs")
}

// Fits reports whether the run is unchanged since it was read and, for a new one, that its conversation has no other.
func (x *LockedRuns) Fits(w *RunWrite) bool {
	if _, stopped := x.stops[w.Run.ConversationID]; stopped {
		return false
	}
	have, has := x.runs[w.Run.ConversationID]
	if w.Run.Rev == 0 {
		return !has
	}
	return has && have.id == w.Run.ID && have.rev == w.Run.Rev
}

// Add accepts a write that fits, and returns the run in its stored form.
func (x *LockedRuns) Add(w *RunWrite) *Run {
	r := new(Run)
	*r = *w.Run
	r.Rev++
	if r.Open {
		x.runs[r.ConversationID] = openRun{r.ID, r.Rev}
	} else {
		delete(x.runs, r.ConversationID)
	}
	for _, e := range w.Entries {
		r.Entries++
		changed := ""
		if len(e.Changed) > 0 {
			changed = db.JSON(e.Changed)
		}
		x.log.Add(r.ID, int64(r.Entries), db.Millis(e.At), e.Path, e.Kind, e.Text, changed)
	}
	x.rows = append(x.rows, r)
	return r
}

// Stop marks the run of a conversation as stopped, because somebody else took or ended the conversation at an instant.
func (x *LockedRuns) Stop(conversation string, at time.Time) { x.stops[conversation] = at }

// stop stops runs.
func (x *LockedRuns) stop(ctx context.Context, tx *db.Tx) error {
	for _, conversation := range slices.Sorted(maps.Keys(x.stops)) {
		at := db.Millis(x.stops[conversation])
		if _, err := tx.Exec(ctx, `INSERT INTO flow_entry (run_id, seq, at, path, kind)
			SELECT id, entries + 1, CAST($2 AS BIGINT), path, 'stopped'
			FROM flow_run WHERE conversation_id = $1 AND `+runIsOpen, conversation, at); err != nil {
			return db.Wrap(err, "write flow entry")
		}
		if _, err := tx.Exec(ctx,
			`UPDATE flow_run SET state = 'stopped', rev = rev + 1, entries = entries + 1, due_at = 0, begun = FALSE, changed_at = $2
			WHERE conversation_id = $1 AND `+runIsOpen, conversation, at); err != nil {
			return db.Wrap(err, "stop flow run")
		}
	}
	return nil
}

// Write stores the added writes.
func (x *LockedRuns) Write(ctx context.Context, tx *db.Tx) error {
	for _, r := range x.rows {
		variables, err := json.Marshal(r.Variables)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO flow_run ("+runColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
			ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, state = excluded.state, place = excluded.place, path = excluded.path,
				variables = excluded.variables, question = excluded.question, tries = excluded.tries, steps = excluded.steps,
					alone = excluded.alone,
				entries = excluded.entries, due_at = excluded.due_at, begun = excluded.begun, node = excluded.node,
				error = excluded.error, changed_at = excluded.changed_at`,
			r.ID, r.CompanyID, r.FlowID, r.Version, r.ConversationID, r.Cause, r.Event, r.NotificationID, r.Rev, r.State, r.Place, r.Path,
			string(variables), r.Question, r.Tries, r.Steps, r.Alone, r.Entries, db.Millis(r.Due), r.Begun, r.Error, db.Millis(r.StartedAt),
			db.Millis(r.ChangedAt), r.Node)
		if err != nil {
			return db.Wrap(err, "write flow run")
		}
	}
	if err := x.log.Write(ctx, tx); err != nil {
		return err
	}
	return x.stop(ctx, tx)
}
