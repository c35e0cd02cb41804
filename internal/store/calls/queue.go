package calls

import (
	"context"
	"hash/fnv"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// maxQueued is the age after which a place counts as left behind: longer than any wait and transfer together.
const maxQueued = 4 * time.Hour

// Enqueue gives a call the last place among the calls that an agent transfers, on all nodes: those connected or being
// connected, followed by those that wait. It returns false if there are already `most` places.
func (s *Incoming) Enqueue(ctx context.Context, companyID, agentID, conversationID string, most int, now time.Time) (bool, error) {
	ok, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if !tx.SQLite() { // places are assigned one after the other
			h := fnv.New64a()
			_, _ = h.Write([]byte("transfers/" + companyID + "/" + agentID)) // never fails
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64())); err != nil {
				return false, err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM transfer_queue WHERE company_id = $1 AND agent_id = $2 AND entered_at < $3",
			companyID, agentID, db.Millis(now.Add(-maxQueued))); err != nil {
			return false, err
		}
		var n int
		var last int64
		if err := tx.Row(ctx, []any{&n, &last}, `SELECT COUNT(*), COALESCE(MAX(place), 0) FROM transfer_queue
			WHERE company_id = $1 AND agent_id = $2`, companyID, agentID); err != nil || n >= most {
			return false, err
		}
		_, err := tx.Exec(ctx, `INSERT INTO transfer_queue (conversation_id, company_id, agent_id, place, entered_at)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (conversation_id) DO UPDATE SET agent_id = $3, place = $4, entered_at = $5`,
			conversationID, companyID, agentID, last+1, db.Millis(now))
		return true, err
	})
	return ok, db.Wrap(err, "queue a call")
}

// Ahead returns the number of calls with a place before a call's. Errors: not_found if the call has no place.
func (s *Incoming) Ahead(ctx context.Context, companyID, conversationID string) (int, error) {
	n, err := db.Find(ctx, s.d, "place of a call", func(scan db.Scan) (*int, error) {
		n := new(int)
		return n, scan(n)
	}, `SELECT (SELECT COUNT(*) FROM transfer_queue AS o WHERE o.company_id = q.company_id AND o.agent_id = q.agent_id
		AND o.place < q.place) FROM transfer_queue AS q WHERE q.conversation_id = $1 AND q.company_id = $2`, conversationID, companyID)
	switch {
	case err != nil:
		return 0, err
	case n == nil:
		return 0, carillon.Absent("Place")
	}
	return *n, nil
}

// Dequeue gives up a call's place.
func (s *Incoming) Dequeue(ctx context.Context, companyID, conversationID string) error {
	_, err := s.d.Exec(ctx, "DELETE FROM transfer_queue WHERE conversation_id = $1 AND company_id = $2", conversationID, companyID)
	return db.Wrap(err, "give up the place of a call")
}
