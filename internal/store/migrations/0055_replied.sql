-- When the recipient first wrote back after a message: within a week of it, and to no newer one (internal/send/notify/replied.go).
ALTER TABLE message ADD COLUMN replied_at BIGINT;

-- How many of the recipients replied. Replies are added as they come and are not in stat_block, so older programs keep them.
ALTER TABLE stat ADD COLUMN replied BIGINT NOT NULL DEFAULT 0;
ALTER TABLE stat_campaign ADD COLUMN replied BIGINT NOT NULL DEFAULT 0;
