-- Finds whether a notification has failed messages. PostgreSQL would no longer update receipts in place (HOT) if a condition of an
-- index were on rank; reason is set only by what ends a message without its delivery.
CREATE INDEX failed_message ON message ((id / 128)) WHERE reason IS NOT NULL;
