-- When a restore made it uncertain whether a job has been sent since the backup; 0: it is certain.
ALTER TABLE bulk_job ADD COLUMN restored_at BIGINT NOT NULL DEFAULT 0;

-- Links that set a forgotten password. An account may have several: one that is asked for leaves the others valid. made_for is the company
-- whose administrator made_by made the link; empty for a link that was asked for by e-mail. They replace password_link, which stays empty.
CREATE TABLE password_reset (
  digest     TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  made_for   TEXT NOT NULL DEFAULT '',
  made_by    TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX password_reset_account ON password_reset (account_id);
CREATE INDEX password_reset_expiry ON password_reset (expires_at);
