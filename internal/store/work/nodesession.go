package work

import (
	"context"
	"fmt"
	"hash/fnv"

	"carillon/internal/store/db"
)

// nodeLocks is the class of advisory locks that show which nodes' processes are running.
const nodeLocks = 0x6361_726c

// sessionKey returns a node's key among those locks. Two nodes may have the same key, because the locks are shared.
func sessionKey(id string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int32(h.Sum32())
}

// KeepSession keeps a session open that holds the node's lock, until it breaks or ctx ends. When the process dies, the
// database ends the session immediately and the other nodes notice (Cluster; docs/adr/0007).
func (s *Nodes) KeepSession(ctx context.Context, id string) error {
	c, err := s.d.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock_shared($1, $2)", nodeLocks, sessionKey(id)); err != nil {
		return fmt.Errorf("lock the session: %w", err)
	}
	_, err = c.WaitForNotification(ctx) // there are no notifications: it returns when the connection breaks
	return fmt.Errorf("hold the session: %w", err)
}

// sessions returns the keys of the nodes that hold their session; none on SQLite.
func (s *Nodes) sessions(ctx context.Context) (map[int32]bool, error) {
	if s.d.SQLite() {
		return map[int32]bool{}, nil
	}
	keys := map[int32]bool{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var key int64
		err := scan(&key)
		keys[int32(uint32(key))] = true
		return err
	}, `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, nodeLocks)
	return keys, err
}
