package calls

import (
	"context"

	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// OverWhatsApp is the part of the table of calls to lines that names calls by their ids at WhatsApp.
type OverWhatsApp struct{ table *Incoming }

// NewOverWhatsApp returns that part of a table.
func NewOverWhatsApp(table *Incoming) OverWhatsApp { return OverWhatsApp{table} }

// Named records WhatsApp's id of a call.
func (s OverWhatsApp) Named(ctx context.Context, id, wacid string) error {
	_, err := s.table.d.Exec(ctx, "UPDATE incoming_call SET wacid = $1 WHERE id = $2", wacid, id)
	return db.Wrap(err, "record the id of a call")
}

// Report stores an ended call that no node took, unless its id at WhatsApp is known.
func (s OverWhatsApp) Report(ctx context.Context, c *IncomingCall) error {
	followed := s.table.followed(ctx, c.SenderUID)
	err := s.table.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var known int
		err := tx.Row(ctx, []any{&known}, `SELECT (SELECT COUNT(*) FROM incoming_call
			WHERE wacid = $1 AND wacid <> '' AND company_id || '' = $2)
			+ (SELECT COUNT(*) FROM call WHERE wacid = $1 AND wacid <> '' AND company_id || '' = $2)`, c.WACID, c.CompanyID)
		if err != nil || known > 0 {
			return err
		}
		n, err := tx.Exec(ctx, `INSERT INTO incoming_call (id, company_id, sender, agent_id, number, node, under_way, state, detail,
			ended_by, wacid, ringing_at, answered_at, ended_at) VALUES ($1, $2, $3, $4, $5, '', FALSE, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT (id) DO NOTHING`, c.ID, c.CompanyID, c.SenderUID, c.AgentID, c.Number, string(c.State), c.Detail, c.EndedBy,
			c.WACID, db.Millis(c.RingingAt), db.Millis(c.AnsweredAt), db.Millis(c.EndedAt))
		if err != nil || n == 0 || !followed {
			return err
		}
		return events.Incoming(ctx, tx, &events.IncomingCall{
			ID: c.ID, CompanyID: c.CompanyID, SenderUID: c.SenderUID, AgentID: c.AgentID, Number: c.Number, State: c.State,
			EndedBy: c.EndedBy, AnsweredAt: c.AnsweredAt, At: c.EndedAt,
		})
	})
	return db.Wrap(err, "store a reported call")
}
