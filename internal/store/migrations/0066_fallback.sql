-- Calls of recipients whose message is not delivered in time. The id is that of the message, and of the call; sender is the voice line, wait
-- the time after the message was sent. due_at is when the message is looked at next, 0 once it is decided what follows.
CREATE TABLE fallback (
  id         {integer_key},
  company_id TEXT NOT NULL,
  sender     BIGINT NOT NULL,
  wait       BIGINT NOT NULL,
  due_at     BIGINT NOT NULL,
  state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'called', 'not_needed', 'skipped', 'canceled')),
  reason     TEXT NOT NULL DEFAULT '',
  decided_at BIGINT NOT NULL DEFAULT 0
){hot};
CREATE INDEX fallback_due ON fallback (company_id, due_at) WHERE due_at > 0;
