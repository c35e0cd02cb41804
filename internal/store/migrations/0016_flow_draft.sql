-- What is being written of a flow, before it is published: a document as the panel sent it, which may have faults.
CREATE TABLE flow_draft (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  flow_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  definition TEXT NOT NULL,
  saved_at   BIGINT NOT NULL,
  PRIMARY KEY (company_id, flow_id)
);

-- The variables that a step changed, in JSON; '': none.
ALTER TABLE flow_entry ADD COLUMN changed TEXT NOT NULL DEFAULT '';

-- The runs that failed, which are few.
CREATE INDEX flow_run_failed ON flow_run (company_id, started_at, id) WHERE state = 'failed';
CREATE INDEX flow_run_flow_failed ON flow_run (company_id, flow_id, started_at, id) WHERE state = 'failed';
