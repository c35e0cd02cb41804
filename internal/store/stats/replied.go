package stats

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Replied records that the recipient of a company's message wrote back, and counts the first reply to each message.
// Replies are counted with the hours and campaigns at once: blocks do not hold them.
func (s *Store) Replied(ctx context.Context, companyID string, message carillon.MessageKey, at time.Time) error {
	err := s.commit(ctx, func(ctx context.Context, tx *db.Tx) error {
		seq := message.Seq()
		t := newTally()
		if err := db.Each(ctx, tx, t.notification, "SELECT "+NotificationColumns+" FROM notification WHERE seq = $1 AND company_id = $2",
			int64(seq), companyID); err != nil {
			return err
		}
		if _, found := t.of[seq]; !found {
			return nil
		}
		n, err := tx.Exec(ctx, "UPDATE message SET replied_at = $1 WHERE id = $2 AND replied_at IS NULL", db.Millis(at), int64(message))
		if err != nil || n == 0 {
			return err
		}
		for k, c := range t.blocks[BlockOf(seq)] {
			if err := addReply(ctx, tx, k, c); err != nil {
				return err
			}
		}
		return nil
	})
	return db.Wrap(err, "count a reply")
}

// addReply adds a reply to the hour and the campaign of a notification, in the order in which counts are written.
func addReply(ctx context.Context, tx *db.Tx, k key, c *counted) error {
	none := make([]any, len(names))
	for i := range none {
		none[i] = int64(0)
	}
	hours := db.NewBulk("stat", "ON CONFLICT (company_id, campaign, hour, class, sender, template, language) DO UPDATE SET "+
		"replied = stat.replied + excluded.replied", append(slices.Clip(hourColumns), "replied:bigint")...)
	of := digest(k.Campaign)
	for _, campaign := range []string{"", of} {
		row := []any{k.Company, campaign, k.Hour, int64(k.Class), k.Sender, k.Template, k.Language, string(k.Channel)}
		hours.Add(append(append(row, none...), int64(1))...)
	}
	if err := hours.Write(ctx, tx); err != nil {
		return err
	}
	campaigns := db.NewBulk("stat_campaign", "ON CONFLICT (company_id, campaign) DO UPDATE SET "+
		"replied = stat_campaign.replied + excluded.replied",
		append(slices.Clip(campaignColumns), "replied:bigint")...)
	row := []any{k.Company, of, k.Campaign, c.first, c.at}
	campaigns.Add(append(append(row, none[:len(campaignNames)]...), int64(1))...)
	return campaigns.Write(ctx, tx)
}
