-- The numbers and ids that a person had before a change reported by the channel. Messages sent before the change can arrive after it.
-- An id is never another person's; a number may be, from until_at on.
CREATE TABLE contact_former (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  value      TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('line', 'person')),
  scope      TEXT NOT NULL,
  contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  until_at   BIGINT NOT NULL,
  PRIMARY KEY (company_id, value, kind, scope)
){without_rowid};
CREATE INDEX contact_former_contact ON contact_former (contact_id);
