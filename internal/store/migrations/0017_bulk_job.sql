-- Jobs that send a template to the people of a file. A node that works at one holds its lease until lease_until; the next batch is that
-- of the number done, and 100 rows of the file make one. settings and result are in JSON.
CREATE TABLE bulk_job (
  id          TEXT PRIMARY KEY,
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  author      TEXT NOT NULL,
  rev         BIGINT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('uploading', 'draft', 'checking', 'checked', 'sending', 'paused', 'canceling', 'done', 'canceled', 'failed', 'discarded')),
  reason      TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  file        TEXT NOT NULL,
  bytes       BIGINT NOT NULL,
  total       BIGINT NOT NULL DEFAULT 0,
  settings    TEXT NOT NULL,
  result      TEXT NOT NULL DEFAULT '{}',
  done        BIGINT NOT NULL DEFAULT 0,
  owner       TEXT NOT NULL DEFAULT '',
  lease_until BIGINT NOT NULL DEFAULT 0,
  created_at  BIGINT NOT NULL,
  changed_at  BIGINT NOT NULL,
  begun_at    BIGINT NOT NULL DEFAULT 0,
  ended_at    BIGINT NOT NULL DEFAULT 0
){hot};
CREATE INDEX bulk_job_company ON bulk_job (company_id, created_at, id);
CREATE INDEX bulk_job_due ON bulk_job (lease_until) WHERE state IN ('checking', 'sending', 'canceling');
CREATE INDEX bulk_job_gone ON bulk_job (changed_at) WHERE state IN ('uploading', 'discarded');

-- The rows of a job's file, 100 in each: an array of the line and the cells of every row, as they were read.
CREATE TABLE bulk_batch (
  job_id TEXT NOT NULL REFERENCES bulk_job (id) ON DELETE CASCADE,
  n      BIGINT NOT NULL,
  cells  TEXT NOT NULL,
  PRIMARY KEY (job_id, n)
);

-- What the check found of a batch, and what became of it. faults are the rows that are not sent, each with its reason.
CREATE TABLE bulk_check (
  job_id          TEXT NOT NULL REFERENCES bulk_job (id) ON DELETE CASCADE,
  n               BIGINT NOT NULL,
  good            BIGINT NOT NULL,
  faulty          BIGINT NOT NULL,
  faults          TEXT NOT NULL DEFAULT '',
  notification_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (job_id, n)
);
