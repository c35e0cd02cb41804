-- The runs that a notification began.
CREATE INDEX flow_run_notification ON flow_run (notification_id, started_at) WHERE notification_id <> '';
