-- Answers that teammates of a company write often, by a short name.
CREATE TABLE canned_reply (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  shortcut   TEXT NOT NULL,
  text       TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (company_id, shortcut)
);

-- asked_at is when the contact said what nobody has answered yet; 0: everything is answered.
ALTER TABLE conversation ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;
-- What is not resolved, by state, for the figures of the installation.
CREATE INDEX conversation_live ON conversation (state) WHERE state <> 'resolved';
-- Contacts without conversations are deleted by when they were last there.
CREATE INDEX contact_seen ON contact (company_id, seen_at);
