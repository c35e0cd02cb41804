package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Notify publishes a payload of at most 8,000 bytes on a PostgreSQL channel, in its own transaction: inside another it
// would serialize the commits. Its commit does not wait for the disk: a crash disconnects all listeners too.
func (d *DB) Notify(ctx context.Context, channel, payload string) error {
	const publish = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"
	_, err := d.write.ExecContext(ctx, publish, channel, payload)
	return Wrap(err, "notify")
}

// Listen receives a channel on a dedicated connection until it breaks or ctx ends. ready is called once the
// subscription is active: earlier messages may have been missed.
func (d *DB) Listen(ctx context.Context, channel string, ready func(), received func(payload string)) error {
	c, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready()
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait for notification: %w", err)
		}
		received(n.Payload)
	}
}
