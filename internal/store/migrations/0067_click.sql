-- When a message's recipient first followed one of its counted links, and how often; at most 100 times are counted.
ALTER TABLE message ADD COLUMN clicked_at BIGINT;
ALTER TABLE message ADD COLUMN clicks INTEGER NOT NULL DEFAULT 0;

-- How many of the recipients followed a link. Like replies, clicks are added as they come and are not in stat_block.
ALTER TABLE stat ADD COLUMN clicked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE stat_campaign ADD COLUMN clicked BIGINT NOT NULL DEFAULT 0;
