-- The second factor of an account: the sealed secret of its authenticator. It counts once a code of it has confirmed it. last_step is
-- the newest period whose code was taken, so that a code is good once.
CREATE TABLE second_factor (
  account_id   TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
  sealed       TEXT NOT NULL,
  confirmed_at BIGINT NOT NULL DEFAULT 0,
  last_step    BIGINT NOT NULL DEFAULT 0,
  created_at   BIGINT NOT NULL
);

-- Codes that stand in for a lost authenticator, each once.
CREATE TABLE recovery_code (
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL,
  PRIMARY KEY (account_id, digest)
);

-- Invitations to a company. The secret in their link is stored as a digest.
CREATE TABLE invitation (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  email      TEXT NOT NULL,
  role       TEXT NOT NULL,
  invited_by TEXT NOT NULL,
  digest     TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  sent_at    BIGINT NOT NULL DEFAULT 0,
  expires_at BIGINT NOT NULL,
  UNIQUE (company_id, email)
);
CREATE INDEX invitation_email ON invitation (email);
CREATE INDEX invitation_expiry ON invitation (expires_at);

-- Links that set a forgotten password: one for each account, the last that was asked for.
CREATE TABLE password_link (
  account_id TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX password_link_expiry ON password_link (expires_at);

-- Who an account is at a server for single sign-on.
CREATE TABLE account_identity (
  issuer     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX account_identity_account ON account_identity (account_id);
