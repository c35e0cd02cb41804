package store

import "context"

// A node that stops, or loses its network, between the parts of a flush leaves a session that holds its locks and waits
// for the rest. Before the flush's end PostgreSQL does not count it as idle in a transaction, and no time-out of its own
// applies: the quota, the shard and the messages would stay locked for as long as the connection seems to stand, which
// with a stopped node or a silent network is hours. So every node looks for such sessions and ends them.

// endStalled ends the sessions of this program that have waited for the rest of a flush for 700 ms, as
// idle_in_transaction_session_timeout does between statements, and gives their number. A node that lives and was only slow
// finds its connection broken and looks whether it was committed.
func (s *Store) endStalled(ctx context.Context) (n int, err error) {
	err = s.row(ctx, []any{&n}, `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND usename = current_user AND application_name = current_setting('application_name')
		AND pid <> pg_backend_pid() AND state = 'active' AND wait_event = 'ClientRead' AND xact_start IS NOT NULL
		AND state_change < pg_catalog.clock_timestamp() - INTERVAL '700 milliseconds'`)
	return n, err
}
