package messages

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
)

// Receive stores receipts, which arrive out of order and repeatedly: the rank only rises, and each time is written
// once. A receipt of an earlier attempt removes a queued message from the queue. A message that is held after a
// restore may have had attempts that this database does not know.
func (s *Messages) Receive(ctx context.Context, receipts []provider.Receipt) error {
	all := make([]receipt, len(receipts))
	for i, r := range receipts {
		all[i] = receipt{r, s.followed(ctx, r.SenderUID)}
	}
	err := s.receipts.Commit(ctx, s.DB, all)
	for i := range all {
		s.touch(all[i].Ref.Key().Seq(), err)
	}
	return err
}

// receipt is a receipt to be stored.
type receipt struct {
	provider.Receipt
	followed bool // its company subscribes to events
}

func receiptKind(place db.Place) *db.Kind[[]receipt] {
	return &db.Kind[[]receipt]{Name: "receipt", Place: place, Apply: applyReceipts}
}

// applyReceipts writes the receipts of all callbacks of a transaction, in the lock order.
func applyReceipts(ctx context.Context, tx *db.Tx, callbacks [][]receipt, _ bool) error {
	every := slices.Concat(callbacks...)
	slices.SortStableFunc(every, func(a, b receipt) int { return cmp.Compare(a.Ref.Key(), b.Ref.Key()) })
	for all := every; len(all) > 0; {
		n := 1
		for n < len(all) && all[n].followed == all[0].followed {
			n++
		}
		if err := receiveRun(ctx, tx, all[:n]); err != nil {
			return fmt.Errorf("write receipts: %w", err)
		}
		all = all[n:]
	}
	var decisive []int64
	for i := range every {
		if every[i].State != carillon.StateSent {
			decisive = append(decisive, int64(every[i].Ref.Key()))
		}
	}
	if len(decisive) > 0 {
		if err := tx.Run(ctx, hasten(tx.DB(), slices.Compact(decisive))); err != nil {
			return fmt.Errorf("hasten fallbacks: %w", err)
		}
	}
	return countCharges(ctx, tx, every)
}

// receiveRun writes receipts of which either all or none may have events.
func receiveRun(ctx context.Context, tx *db.Tx, run []receipt) error {
	var followed []carillon.MessageKey
	if run[0].followed {
		for i := range run {
			followed = append(followed, run[i].Ref.Key())
		}
	}
	return events.Messages(ctx, tx, followed, func() error {
		for i := range run {
			if err := receive(ctx, tx, &run[i].Receipt); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	receiptUp = `UPDATE message SET q = 0,
		reason = CASE WHEN rank < $3 THEN NULL ELSE reason END, detail = CASE WHEN rank < $3 THEN NULL ELSE detail END,
		ended_at = CASE WHEN rank < $3 THEN NULL ELSE ended_at END, rank = CASE WHEN rank < $3 THEN $3 ELSE rank END,
		provider_id = COALESCE(provider_id, $4), `
	receiptWhere = ` WHERE id = $1 AND sender = $2 AND rank <> 10 AND (attempt > 0 OR hold LIKE 'restored/%')`

	receiptSent      = receiptUp + `sent_at = COALESCE(sent_at, $5)` + receiptWhere + ` AND (rank < $3 OR sent_at IS NULL)`
	receiptDelivered = receiptUp + `delivered_at = COALESCE(delivered_at, $5)` + receiptWhere + ` AND (rank < $3 OR delivered_at IS NULL)`
	receiptRead      = receiptUp + `read_at = COALESCE(read_at, $5)` + receiptWhere + ` AND (rank < $3 OR read_at IS NULL)`
	receiptFailed    = `UPDATE message SET q = 0, rank = $3, reason = $5, detail = $6, ended_at = $7, provider_id = ` +
		`COALESCE(provider_id, $4)` +
		receiptWhere + ` AND rank < $3 AND (attempt = $8 OR $8 = 0)`
)

func receive(ctx context.Context, tx *db.Tx, r *provider.Receipt) error {
	id, at := int64(r.Ref.Key()), db.Millis(r.At)
	to := int(rank.Of(r.State))
	provider := orNil(r.ProviderID)
	var err error
	switch r.State {
	case carillon.StateSent:
		_, err = tx.Exec(ctx, receiptSent, id, r.SenderUID, to, provider, at)
	case carillon.StateDelivered:
		_, err = tx.Exec(ctx, receiptDelivered, id, r.SenderUID, to, provider, at)
	case carillon.StateRead:
		_, err = tx.Exec(ctx, receiptRead, id, r.SenderUID, to, provider, at)
	case carillon.StateFailed:
		_, err = tx.Exec(ctx, receiptFailed, id, r.SenderUID, to, provider, string(r.Reason), orNil(r.Detail), at, r.Ref.Attempt)
	default: // not reported by any provider
	}
	return err
}
