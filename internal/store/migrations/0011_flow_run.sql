-- A flow as it was when a run of it began: a run goes on with the steps that it began with.
CREATE TABLE flow_version (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  flow_id    TEXT NOT NULL,
  version    INTEGER NOT NULL,
  digest     TEXT NOT NULL,
  definition TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (company_id, flow_id, version),
  UNIQUE (company_id, flow_id, digest)
);

-- Runs of flows. A run belongs to a conversation, which has one at a time that is not over. rev counts the writes: who wants to
-- change a run must have seen the last one. due_at is when a node is to go on with it (0: when the contact responds, or never);
-- begun says that the effect it waits for was begun, so that after a crash its outcome is unknown.
CREATE TABLE flow_run (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  flow_id         TEXT NOT NULL,
  version         INTEGER NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  cause           TEXT NOT NULL CHECK (cause IN ('event', 'keyword', 'widget', 'inbound', 'test')),
  event           TEXT NOT NULL DEFAULT '',
  notification_id TEXT NOT NULL DEFAULT '',
  rev             INTEGER NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('ready', 'asking', 'waiting', 'calling', 'completed', 'handed_off', 'stopped', 'failed')),
  place           INTEGER NOT NULL,
  path            TEXT NOT NULL,
  variables       TEXT NOT NULL,
  question        TEXT NOT NULL DEFAULT '',
  tries           INTEGER NOT NULL DEFAULT 0,
  steps           INTEGER NOT NULL DEFAULT 0,
  alone           INTEGER NOT NULL DEFAULT 0,
  entries         INTEGER NOT NULL DEFAULT 0,
  due_at          BIGINT NOT NULL DEFAULT 0,
  begun           BOOLEAN NOT NULL DEFAULT FALSE,
  error           TEXT NOT NULL DEFAULT '',
  started_at      BIGINT NOT NULL,
  changed_at      BIGINT NOT NULL
){hot};
CREATE UNIQUE INDEX flow_run_open ON flow_run (conversation_id) WHERE state IN ('ready', 'asking', 'waiting', 'calling');
CREATE INDEX flow_run_conversation ON flow_run (conversation_id, started_at);
CREATE INDEX flow_run_due ON flow_run (due_at) WHERE due_at > 0;
CREATE INDEX flow_run_company ON flow_run (company_id, started_at, id);
CREATE INDEX flow_run_flow ON flow_run (company_id, flow_id, started_at, id);

-- What happened in a run, in order.
CREATE TABLE flow_entry (
  run_id TEXT NOT NULL REFERENCES flow_run (id) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  at     BIGINT NOT NULL,
  path   TEXT NOT NULL,
  kind   TEXT NOT NULL,
  text   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, seq)
){without_rowid};
