-- Files that visitors, teammates and applications sent. What is not whole is still arriving, or its sender left. One of a
-- conversation is deleted with it; expires_at is 0 once a turn shows it. conversation_id is NULL for media of notifications.
CREATE TABLE file (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  conversation_id TEXT REFERENCES conversation (id) ON DELETE CASCADE,
  sent_by         TEXT NOT NULL,
  name            TEXT NOT NULL,
  type            TEXT NOT NULL,
  size            BIGINT NOT NULL,
  sha256          TEXT NOT NULL DEFAULT '',
  whole           BOOLEAN NOT NULL DEFAULT FALSE,
  created_at      BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL
);
CREATE INDEX file_company ON file (company_id, size);
CREATE INDEX file_conversation ON file (conversation_id, size);
CREATE INDEX file_expiry ON file (expires_at) WHERE expires_at > 0;

-- The bytes of a file, in parts from 0, so that no write is long and no reader holds all of it.
CREATE TABLE file_part (
  file_id TEXT NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  part    INTEGER NOT NULL,
  bytes   {bytes} NOT NULL,
  PRIMARY KEY (file_id, part)
);
