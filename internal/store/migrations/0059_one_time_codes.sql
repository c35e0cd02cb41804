-- Seconds until the channel drops a message of the template that it could not deliver.
ALTER TABLE template ADD COLUMN send_ttl INTEGER NOT NULL DEFAULT 0;

-- The request holds one-time codes. It is deleted when its messages have ended, at the latest after a day.
ALTER TABLE notification ADD COLUMN secret BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX notification_secret ON notification (due_at) WHERE secret;
