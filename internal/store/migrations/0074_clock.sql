-- Milliseconds by which a node's clock is ahead of the database's, and whether the node is set apart for events.
ALTER TABLE node ADD COLUMN ahead BIGINT NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN events_only BOOLEAN NOT NULL DEFAULT FALSE;
