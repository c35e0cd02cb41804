package messages

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/store/db"
)

// longRun is the number of recipients from which SQLite writes a notification's messages with statements that bind the
// shared values once and only the number of each message.
const longRun = 8

// runInserts are those statements by their number of messages: 64, 32 … 1.
//
//nolint:gochecknoglobals // a constant table
var runInserts = func() map[int]string {
	all := map[int]string{}
	for n := db.MaxRows; n > 0; n /= 2 {
		var q strings.Builder
		q.WriteString("INSERT OR FAIL INTO message (id, shard, sender, class, due_at, q, number) VALUES (?1,?2,?3,?4,?5,1,?)")
		for i := 1; i < n; i++ {
			q.WriteString(",(?1+" + strconv.Itoa(i) + ",?2,?3,?4,?5,1,?)")
		}
		all[n] = q.String()
	}
	return all
}()

const runShares = 5 // parameters that all messages of a statement share

// insertRuns writes a notification's messages to be sent, and adds the skipped ones and the fallbacks to b.
func (a *Accept) insertRuns(ctx context.Context, tx *db.Tx, b messages) error {
	n := &a.Notification
	a.addFallbacks(b.fallbacks)
	args := make([]driver.NamedValue, runShares, runShares+db.MaxRows)
	for i, v := range []any{nil, n.SenderUID % carillon.Shards, n.SenderUID, int64(n.Class), db.Millis(n.DueAt)} {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	for at := 0; at < len(a.Messages); {
		size := a.run(at)
		if size == 0 {
			a.addSkipped(b, at)
			at++
			continue
		}
		args = args[:runShares]
		args[0].Value = int64(n.Seq().Message(at))
		for _, m := range a.Messages[at : at+size] {
			args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: m.Number})
		}
		if err := tx.Insert(ctx, runInserts[size], args); err != nil {
			return err
		}
		at += size
	}
	return nil
}

// run returns the number of messages, from an index on, that one statement writes; 0 if that message is skipped.
func (a *Accept) run(at int) int {
	n := 0
	for n < db.MaxRows && at+n < len(a.Messages) && a.Messages[at+n].Skip == "" {
		n++
	}
	size := db.MaxRows
	for size > n {
		size /= 2
	}
	return size
}
