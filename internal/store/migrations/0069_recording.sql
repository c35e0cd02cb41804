-- Retention of a company's call recordings, in days; 0: that of the conversations.
ALTER TABLE company ADD COLUMN recording_days INTEGER NOT NULL DEFAULT 0;

-- The reason for a missing recording: refused by the other side, or deleted after the retention.
ALTER TABLE call ADD COLUMN no_recording TEXT NOT NULL DEFAULT '' CHECK (no_recording IN ('', 'refused', 'expired'));
ALTER TABLE incoming_call ADD COLUMN no_recording TEXT NOT NULL DEFAULT '' CHECK (no_recording IN ('', 'refused', 'expired'));

CREATE INDEX file_recording ON file (company_id, created_at) WHERE sent_by = 'call';
