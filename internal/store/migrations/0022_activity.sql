-- Every change of a company's configuration, and of what it has sent, written in the transaction that makes it. author is who did it: a
-- kind and, behind a colon, an id. changes is a document of fields with their values before and after.
CREATE TABLE audit (
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id          TEXT NOT NULL,
  at          BIGINT NOT NULL,
  author      TEXT NOT NULL,
  author_name TEXT NOT NULL,
  origin      TEXT NOT NULL,
  address     TEXT NOT NULL,
  kind        TEXT NOT NULL,
  object_id   TEXT NOT NULL,
  object_name TEXT NOT NULL,
  action      TEXT NOT NULL,
  changes     TEXT NOT NULL,
  PRIMARY KEY (company_id, id)
);
CREATE INDEX audit_kind ON audit (company_id, kind, id);
CREATE INDEX audit_object ON audit (company_id, kind, object_id, id);
CREATE INDEX audit_author ON audit (company_id, author, id);
CREATE INDEX audit_author_kind ON audit (company_id, author, kind, id);
CREATE INDEX audit_age ON audit (at);

-- Calls of the interface that were refused or failed, the last ones of each company, without secrets. repeats counts further calls of
-- the same key that were refused in the same way within a moment.
CREATE TABLE api_call (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  at         BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  status     INTEGER NOT NULL,
  code       TEXT NOT NULL,
  method     TEXT NOT NULL,
  path       TEXT NOT NULL,
  key_id     TEXT NOT NULL,
  request_id TEXT NOT NULL,
  repeats    BIGINT NOT NULL,
  micros     BIGINT NOT NULL,
  message    TEXT NOT NULL,
  doc        TEXT NOT NULL,
  PRIMARY KEY (company_id, id)
);

-- References to the last requests to send that were accepted, some hundred to a row.
CREATE TABLE api_accepted (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  at         BIGINT NOT NULL,
  amount     INTEGER NOT NULL,
  doc        TEXT NOT NULL,
  PRIMARY KEY (company_id, id)
);
