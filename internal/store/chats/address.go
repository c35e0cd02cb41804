package chats

import (
	"context"

	"carillon/internal/store/db"
)

// Readdress replaces numbers or ids in the windows of a contact's conversations by another number or id; "" removes
// them. A window without an address is closed: the number belongs to somebody else.
func Readdress(ctx context.Context, tx *db.Tx, companyID, contactID string, from []string, number, userID string) error {
	d := tx.DB()
	if _, err := tx.Exec(ctx, "UPDATE reply_window SET number = CASE WHEN number "+d.In(1)+" THEN $2 ELSE number END, "+
		"user_id = CASE WHEN user_id "+d.In(1)+" THEN $3 ELSE user_id END "+
		"WHERE company_id = $4 AND conversation_id IN (SELECT id FROM conversation WHERE contact_id = $5)",
		d.List(from), number, userID, companyID, contactID); err != nil {
		return db.Wrap(err, "write windows")
	}
	_, err := tx.Exec(ctx, `UPDATE reply_window SET until_at = 0 WHERE number = '' AND user_id = '' AND company_id = $1
		AND conversation_id IN (SELECT id FROM conversation WHERE contact_id = $2)`, companyID, contactID)
	return db.Wrap(err, "close windows")
}
