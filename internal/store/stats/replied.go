package stats

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// Replied records that the recipient of a company's message wrote back, and counts the first reply to each message.
// Replies and clicks are added to the hours and campaigns directly, because blocks do not hold them.
func (s *Store) Replied(ctx context.Context, companyID string, message carillon.MessageKey, at time.Time) error {
	err := s.react(ctx, companyID, message, "replied", func(ctx context.Context, tx *db.Tx) (first bool, err error) {
		n, err := tx.Exec(ctx, "UPDATE message SET replied_at = $1 WHERE id = $2 AND replied_at IS NULL", db.Millis(at), int64(message))
		return n > 0, err
	})
	return db.Wrap(err, "count a reply")
}

// MaxClicks is the number of clicks on the links of a message that are counted.
const MaxClicks = 100

// Clicked records that the recipient of a company's message followed a counted link. The first click of a message is
// counted with the recipients and has an event, if events of the company's notifications are subscribed.
func (s *Store) Clicked(ctx context.Context, companyID string, message carillon.MessageKey, at time.Time, subscribed bool) error {
	err := s.react(ctx, companyID, message, "clicked", func(ctx context.Context, tx *db.Tx) (first bool, err error) {
		var clicks int
		err = tx.Row(ctx, []any{&clicks}, `UPDATE message SET clicks = clicks + 1, clicked_at = COALESCE(clicked_at, $1)
			WHERE id = $2 AND clicks < $3 RETURNING clicks`, db.Millis(at), int64(message), MaxClicks)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil || clicks > 1 || !subscribed {
			return clicks == 1, err
		}
		return true, events.Clicked(ctx, tx, message, at)
	})
	return db.Wrap(err, "count a click")
}

// react runs record for a company's message, in a transaction, and counts the recipient in a column if it was the first
// such reaction.
func (s *Store) react(ctx context.Context, companyID string, message carillon.MessageKey, column string,
	record func(ctx context.Context, tx *db.Tx) (first bool, err error),
) error {
	return s.commit(ctx, func(ctx context.Context, tx *db.Tx) error {
		seq := message.Seq()
		t := newTally()
		if err := db.Each(ctx, tx, t.notification, "SELECT "+NotificationColumns+" FROM notification WHERE seq = $1 AND company_id = $2",
			int64(seq), companyID); err != nil {
			return err
		}
		if _, found := t.of[seq]; !found {
			return nil
		}
		if first, err := record(ctx, tx); err != nil || !first {
			return err
		}
		for k, c := range t.blocks[BlockOf(seq)] {
			if err := addReaction(ctx, tx, column, k, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// addReaction adds a recipient to the hour and the campaign of a notification, in the order in which counts are written.
func addReaction(ctx context.Context, tx *db.Tx, column string, k key, c *counted) error {
	none := make([]any, len(names))
	for i := range none {
		none[i] = int64(0)
	}
	hours := db.NewBulk("stat", "ON CONFLICT (company_id, campaign, hour, class, sender, template, language) DO UPDATE SET "+
		column+" = stat."+column+" + excluded."+column, append(slices.Clip(hourColumns), column+":bigint")...)
	of := digest(k.Campaign)
	for _, campaign := range []string{"", of} {
		row := []any{k.Company, campaign, k.Hour, int64(k.Class), k.Sender, k.Template, k.Language, string(k.Channel)}
		hours.Add(append(append(row, none...), int64(1))...)
	}
	if err := hours.Write(ctx, tx); err != nil {
		return err
	}
	campaigns := db.NewBulk("stat_campaign", "ON CONFLICT (company_id, campaign) DO UPDATE SET "+
		column+" = stat_campaign."+column+" + excluded."+column, append(slices.Clip(campaignColumns), column+":bigint")...)
	row := []any{k.Company, of, k.Campaign, c.first, c.at}
	campaigns.Add(append(append(row, none[:len(campaignNames)]...), int64(1))...)
	return campaigns.Write(ctx, tx)
}
