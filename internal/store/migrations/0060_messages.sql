-- Messages of applications are replies with a key and a content: the message as JSON, in the terms of package provider.
ALTER TABLE reply ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
ALTER TABLE reply ADD COLUMN content TEXT NOT NULL DEFAULT '';

-- When a reply reached a state; 0 if it did not, or an older program stored it.
ALTER TABLE reply ADD COLUMN sent_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE reply ADD COLUMN delivered_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE reply ADD COLUMN read_at BIGINT NOT NULL DEFAULT 0;
