package work

// Open is an SQL expression for a row of notification: the number of its messages that are queued or in flight, of its
// calls that are queued or in progress, and of its fallbacks that wait. No partial index serves its conditions: a
// planner would read all open rows.
const Open = `((SELECT COUNT(*) FROM message WHERE id BETWEEN notification.seq * 128 AND notification.seq * 128 + 127 AND q + 0 > 0)
	+ (SELECT COUNT(*) FROM call WHERE id BETWEEN notification.seq * 128 AND notification.seq * 128 + 127 AND q + 0 > 0)
	+ (SELECT COUNT(*) FROM fallback WHERE id BETWEEN notification.seq * 128 AND notification.seq * 128 + 127 AND due_at + 0 > 0))`
