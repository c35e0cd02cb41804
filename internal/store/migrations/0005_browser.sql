-- What a session has besides when it is one of the panel's pages in a browser: the digest of the secret in its cookie, when it was
-- last used, and from where it was begun. Whatever ends sessions ends these.
CREATE TABLE browser_session (
  session_id TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL UNIQUE,
  used_at    BIGINT NOT NULL,
  address    TEXT NOT NULL,
  agent      TEXT NOT NULL
);
