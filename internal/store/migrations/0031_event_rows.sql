-- serves: 31

-- A row holds the events of one commit, up to a hundred of a topic: seq is the last one's. Where there are several, kind and subject are
-- empty, and the payload is a JSON array with those of each; created_at is of the latest.
ALTER TABLE event ADD COLUMN events BIGINT NOT NULL DEFAULT 1;
