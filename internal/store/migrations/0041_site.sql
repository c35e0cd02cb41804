-- The state of a site that is read into knowledge: when it is due, which node reads it, how far that is, and the pages as they were read
-- last (JSON). kind is that of the resource.
CREATE TABLE site_state (
  company_id  TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind = 'site'),
  site_id     TEXT NOT NULL,
  due_at      BIGINT NOT NULL,
  whole       BOOLEAN NOT NULL,
  node        TEXT NOT NULL,
  lease_until BIGINT NOT NULL,
  begun_at    BIGINT NOT NULL,
  done        INTEGER NOT NULL,
  found       INTEGER NOT NULL,
  looked_at   BIGINT NOT NULL,
  read_at     BIGINT NOT NULL,
  fault       TEXT NOT NULL,
  detail      TEXT NOT NULL,
  pages       TEXT NOT NULL,
  PRIMARY KEY (company_id, site_id),
  FOREIGN KEY (company_id, kind, site_id) REFERENCES resource (company_id, kind, id) ON DELETE CASCADE
);
CREATE INDEX site_due ON site_state (due_at);

-- The looks at a site that found a change or a fault, the latest of them, with the articles before and after (JSON).
CREATE TABLE site_look (
  company_id TEXT NOT NULL,
  site_id    TEXT NOT NULL,
  id         TEXT NOT NULL,
  at         BIGINT NOT NULL,
  pages      INTEGER NOT NULL,
  added      INTEGER NOT NULL,
  changed    INTEGER NOT NULL,
  removed    INTEGER NOT NULL,
  kept       INTEGER NOT NULL,
  fault      TEXT NOT NULL,
  detail     TEXT NOT NULL,
  changes    TEXT NOT NULL,
  PRIMARY KEY (company_id, site_id, id),
  FOREIGN KEY (company_id, site_id) REFERENCES site_state (company_id, site_id) ON DELETE CASCADE
);
