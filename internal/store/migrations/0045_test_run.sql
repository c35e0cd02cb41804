-- Runs of the tests of an agent, the last twenty of each. cases is a short list of the results, doc the complete one, both JSON. origin says
-- who asked for the run: panel, draft (before a change is saved) or command.
CREATE TABLE test_run (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL DEFAULT 'agent' CHECK (kind = 'agent'),
  agent_id   TEXT NOT NULL,
  id         TEXT NOT NULL,
  begun_at   BIGINT NOT NULL,
  author     TEXT NOT NULL,
  origin     TEXT NOT NULL CHECK (origin IN ('panel', 'draft', 'command')),
  passed     BIGINT NOT NULL,
  failed     BIGINT NOT NULL,
  skipped    BIGINT NOT NULL,
  took_ms    BIGINT NOT NULL,
  cases      TEXT NOT NULL,
  doc        TEXT NOT NULL,
  PRIMARY KEY (company_id, agent_id, id),
  FOREIGN KEY (company_id, kind, agent_id) REFERENCES resource (company_id, kind, id) ON DELETE CASCADE
){without_rowid};
