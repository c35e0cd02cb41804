-- Addresses of sockets that were given out. Each is good for one use; id is the digest of its token. key_id and widget_id are empty
-- where a teammate asked for it.
CREATE TABLE signed_address (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  widget_id       TEXT NOT NULL,
  agent_id        TEXT NOT NULL,
  key_id          TEXT NOT NULL,
  origin          TEXT NOT NULL,
  expires_at      BIGINT NOT NULL,
  used_at         BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX signed_address_conversation ON signed_address (conversation_id);
CREATE INDEX signed_address_company ON signed_address (company_id);
CREATE INDEX signed_address_expiry ON signed_address (expires_at);
