-- A call to a line; its id is a UUIDv7 of its own. under_way is true from when it takes its place on the line to its end, on the
-- node that took it.
CREATE TABLE incoming_call (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL,
  sender          BIGINT NOT NULL,
  agent_id        TEXT NOT NULL,
  number          TEXT NOT NULL,
  node            TEXT NOT NULL,
  under_way       BOOLEAN NOT NULL DEFAULT TRUE,
  hang_up         BOOLEAN NOT NULL DEFAULT FALSE,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL DEFAULT '',
  detail          TEXT NOT NULL DEFAULT '',
  cause           TEXT NOT NULL DEFAULT '',
  ended_by        TEXT NOT NULL DEFAULT '',
  conversation_id TEXT NOT NULL DEFAULT '',
  recording       TEXT NOT NULL DEFAULT '',
  ringing_at      BIGINT NOT NULL,
  answered_at     BIGINT NOT NULL DEFAULT 0,
  ended_at        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX incoming_call_line ON incoming_call (sender) WHERE under_way;
CREATE INDEX incoming_call_node ON incoming_call (node) WHERE under_way;
CREATE INDEX incoming_call_company ON incoming_call (company_id, id);
CREATE INDEX incoming_call_number ON incoming_call (number, id);
CREATE INDEX incoming_call_ended ON incoming_call (company_id, ended_at) WHERE NOT under_way;
