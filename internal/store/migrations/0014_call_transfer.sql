-- A call that is transferred to a number: its second leg, which takes a place on the line too. It goes with the call's conversation.
CREATE TABLE call_transfer (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  sender          BIGINT NOT NULL,
  number          TEXT NOT NULL,
  under_way       BOOLEAN NOT NULL DEFAULT TRUE,
  state           TEXT NOT NULL,
  cause           TEXT NOT NULL DEFAULT '',
  dialed_at       BIGINT NOT NULL,
  answered_at     BIGINT NOT NULL DEFAULT 0,
  ended_at        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX call_transfer_line ON call_transfer (sender) WHERE under_way;
CREATE INDEX call_transfer_conversation ON call_transfer (conversation_id, id);
