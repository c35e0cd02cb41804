-- The id of a call at WhatsApp, of calls over WhatsApp alone; callbacks name calls by it.
ALTER TABLE incoming_call ADD COLUMN wacid TEXT NOT NULL DEFAULT '';
ALTER TABLE call ADD COLUMN wacid TEXT NOT NULL DEFAULT '';
CREATE INDEX incoming_call_wacid ON incoming_call (wacid) WHERE wacid <> '';
CREATE INDEX call_wacid ON call (wacid) WHERE wacid <> '';
