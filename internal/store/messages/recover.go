package messages

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// InFlight returns, by shard, the senders with messages in flight or of unknown outcome.
func (s *Messages) InFlight(ctx context.Context, shards []int) (map[int][]int64, error) {
	senders := map[int][]int64{}
	err := db.Each(ctx, s.DB, func(scan db.Scan) error {
		var shard int
		var uid int64
		err := scan(&shard, &uid)
		senders[shard] = append(senders[shard], uid)
		return err
	}, "SELECT DISTINCT shard, sender FROM message WHERE q >= 2 AND shard "+s.DB.In(1), s.DB.List(shards))
	return senders, db.Wrap(err, "find messages in flight")
}

// Recover marks messages that earlier owners of a shard left in flight as unknown, and restarts the wait of all unknown ones,
// because receipts may have been missed. The senders are those that InFlight returns once the shard is acquired: from then on
// no earlier owner starts anything. It returns the number of messages.
func (s *Messages) Recover(ctx context.Context, shard int, epoch int64, now time.Time, senders []int64,
	wait func(senderUID int64) time.Duration,
) (int64, error) {
	waits := map[time.Duration][]int64{} // computed first, because a transaction must not wait for another connection
	for _, uid := range senders {
		w := wait(uid)
		waits[w] = append(waits[w], uid)
	}
	total, err := db.Returning(ctx, s.DB, func(ctx context.Context, tx *db.Tx) (total int64, err error) {
		for w, uids := range waits { // one statement for all with the same wait, since each scans the shard's rows in flight
			n, err := tx.Exec(ctx,
				"UPDATE message SET q = 3, due_at = $1 WHERE shard = $2 AND q >= 2 AND (q = 3 OR epoch < $3) AND sender "+s.DB.In(4),
				db.Millis(now.Add(w)), shard, epoch, s.DB.List(uids))
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	})
	return total, db.Wrap(err, "recover shard")
}
