-- What the phones of the sandbox keep of a number: whether it is unreachable, up to which message that it wrote the company has read, and
-- until when the company is shown as writing. What such a phone got is in the tables of messages and turns.
CREATE TABLE sandbox_phone (
  sender_uid   BIGINT NOT NULL,
  number       TEXT NOT NULL,
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  unreachable  BOOLEAN NOT NULL DEFAULT FALSE,
  read_at      BIGINT NOT NULL DEFAULT 0,
  typing_until BIGINT NOT NULL DEFAULT 0,
  changed_at   BIGINT NOT NULL,
  PRIMARY KEY (sender_uid, number)
);
CREATE INDEX sandbox_phone_away ON sandbox_phone (company_id) WHERE unreachable;
CREATE INDEX sandbox_phone_company ON sandbox_phone (company_id);
CREATE INDEX sandbox_phone_age ON sandbox_phone (changed_at);
