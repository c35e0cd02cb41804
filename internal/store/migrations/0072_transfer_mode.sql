-- How a call is transferred: by a second leg (bridge), or by the telephone company (refer), which takes no place on the line.
ALTER TABLE call_transfer ADD COLUMN mode TEXT NOT NULL DEFAULT 'bridge';
