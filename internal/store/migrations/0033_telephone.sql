-- The company that whoever runs the installation gave a number to, of several companies with a line of it.
CREATE TABLE number_owner (
  number      TEXT PRIMARY KEY,
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  assigned_at BIGINT NOT NULL
){without_rowid};
CREATE INDEX number_owner_company ON number_owner (company_id);

-- The calls among the recipients of a day.
ALTER TABLE quota ADD COLUMN calls BIGINT NOT NULL DEFAULT 0;
