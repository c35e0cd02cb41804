-- What happened to a template, by whom, and the status since. former and present are documents of its name, language, category
-- and components; '' where the change is none of them.
CREATE TABLE template_change (
  company_id  TEXT NOT NULL,
  template_id TEXT NOT NULL,
  seq         BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  action      TEXT NOT NULL,
  by_kind     TEXT NOT NULL,
  by_id       TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT NOT NULL,
  former      TEXT NOT NULL,
  present     TEXT NOT NULL,
  PRIMARY KEY (company_id, template_id, seq),
  FOREIGN KEY (company_id, template_id) REFERENCES template (company_id, id) ON DELETE CASCADE
);

-- When a sender's templates were last compared with those of its channel, and what came of it.
CREATE TABLE template_sync (
  sender  BIGINT PRIMARY KEY REFERENCES sender (uid) ON DELETE CASCADE,
  at      BIGINT NOT NULL,
  found   INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  missing INTEGER NOT NULL,
  error   TEXT NOT NULL
);
