-- Days for which a company keeps the recordings of its calls; 0: as long as the conversations of the calls.
ALTER TABLE company ADD COLUMN recording_days INTEGER NOT NULL DEFAULT 0;

-- Why a recorded call has no recording: the other side refused it, or it was deleted after the company's days.
ALTER TABLE call ADD COLUMN no_recording TEXT NOT NULL DEFAULT '' CHECK (no_recording IN ('', 'refused', 'expired'));
ALTER TABLE incoming_call ADD COLUMN no_recording TEXT NOT NULL DEFAULT '' CHECK (no_recording IN ('', 'refused', 'expired'));

CREATE INDEX file_recording ON file (company_id, created_at) WHERE sent_by = 'call';
