-- Milliseconds by which a node's clock is ahead of the database's.
ALTER TABLE node ADD COLUMN ahead BIGINT NOT NULL DEFAULT 0;
