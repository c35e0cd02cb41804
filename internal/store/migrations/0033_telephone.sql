-- The calls among the recipients of a day.
ALTER TABLE quota ADD COLUMN calls BIGINT NOT NULL DEFAULT 0;
