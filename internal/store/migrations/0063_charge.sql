-- What the channel charges for a delivered message: its type and category, joined by '/'. '' if the channel has not said.
ALTER TABLE message ADD COLUMN charge TEXT NOT NULL DEFAULT '';

-- Delivered messages by what the channel charges for them. day is that of the delivery (UTC), code the calling code of the number,
-- campaign the first 200 characters of its name.
CREATE TABLE charge_count (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  day        TEXT NOT NULL,
  campaign   TEXT NOT NULL,
  template   TEXT NOT NULL,
  code       TEXT NOT NULL,
  type       TEXT NOT NULL,
  category   TEXT NOT NULL,
  messages   BIGINT NOT NULL,
  PRIMARY KEY (company_id, day, campaign, template, code, type, category)
){without_rowid};
CREATE INDEX charge_count_day ON charge_count (day);

-- Prices that an administrator enters, in millionths of the currency. code is a calling code; '' stands for all others.
CREATE TABLE charge_price (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  code       TEXT NOT NULL,
  category   TEXT NOT NULL,
  micros     BIGINT NOT NULL,
  currency   TEXT NOT NULL,
  PRIMARY KEY (company_id, code, category)
){without_rowid};
