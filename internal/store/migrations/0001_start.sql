-- Both engines run this text. {without_rowid}, {integer_key} and {hot} are filled by the dialect: clustered tables on
-- SQLite, its own row numbers as keys, room for heap-only updates on PostgreSQL. Ids are TEXT, instants are milliseconds
-- of UTC, 0 or NULL where there is none.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BIGINT NOT NULL DEFAULT 0,
  text  TEXT NOT NULL DEFAULT ''
);
INSERT INTO meta (name, value) VALUES ('generation', 1);

-- The generation in which a company's configuration last changed; '*' stands for every company's.
CREATE TABLE invalidation (
  company_id TEXT PRIMARY KEY,
  generation BIGINT NOT NULL
);
CREATE INDEX invalidation_generation ON invalidation (generation);

CREATE TABLE company (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  suspended  BOOLEAN NOT NULL DEFAULT FALSE,
  strict     BOOLEAN NOT NULL DEFAULT FALSE,
  hours      TEXT NOT NULL DEFAULT 'null',
  redial     TEXT NOT NULL DEFAULT '{}',
  limits     TEXT NOT NULL,
  retention  INTEGER NOT NULL DEFAULT 90,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX company_age ON company (created_at, id);

CREATE TABLE account (
  id              TEXT PRIMARY KEY,
  email           TEXT NOT NULL UNIQUE,
  name            TEXT NOT NULL,
  phone           TEXT NOT NULL DEFAULT '',
  password_hash   TEXT NOT NULL,
  confirmed_at    BIGINT NOT NULL,
  last_sign_in_at BIGINT NOT NULL DEFAULT 0,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL
);

CREATE TABLE membership (
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  role       TEXT NOT NULL,
  PRIMARY KEY (account_id, company_id)
);
CREATE INDEX membership_company ON membership (company_id, account_id);

CREATE TABLE session (
  id         TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX session_account ON session (account_id, id);
CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE refresh_token (
  digest     TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL DEFAULT 0,
  repeated   BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX refresh_token_session ON refresh_token (session_id);

CREATE TABLE signing_key (
  kid        TEXT PRIMARY KEY,
  alg        TEXT NOT NULL,
  sealed     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  signs_at   BIGINT NOT NULL
);

CREATE TABLE access_key (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  label      TEXT NOT NULL,
  digest     TEXT NOT NULL UNIQUE,
  sealed     TEXT NOT NULL,
  scopes     TEXT NOT NULL,
  expires_at BIGINT NOT NULL DEFAULT 0,
  revoked_at BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  last_used  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX access_key_company ON access_key (company_id, id);

CREATE TABLE sender (
  uid             BIGINT PRIMARY KEY,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id              TEXT NOT NULL,
  number          TEXT NOT NULL,
  channel         TEXT NOT NULL CHECK (channel IN ('messaging', 'voice')),
  provider        TEXT NOT NULL,
  is_default      BOOLEAN NOT NULL DEFAULT FALSE,
  per_second      INTEGER NOT NULL DEFAULT 0,
  per_recipient   BIGINT NOT NULL DEFAULT 0,
  max_concurrent  INTEGER NOT NULL DEFAULT 0,
  ring_timeout    BIGINT NOT NULL DEFAULT 0,
  media_check     TEXT NOT NULL CHECK (media_check IN ('full', 'syntax')),
  unknown_outcome TEXT NOT NULL,
  sealed          TEXT NOT NULL,
  -- A removed sender stays: notifications show its id, and its uid is never another one's.
  removed         BOOLEAN NOT NULL DEFAULT FALSE,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  UNIQUE (company_id, id)
);
CREATE UNIQUE INDEX sender_company_number ON sender (company_id, channel, number) WHERE NOT removed;
CREATE INDEX sender_id ON sender (id);
CREATE INDEX sender_number ON sender (number);

CREATE TABLE template (
  company_id       TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id               TEXT NOT NULL,
  provider_id      TEXT NOT NULL DEFAULT '',
  sender           BIGINT NOT NULL REFERENCES sender (uid) ON DELETE CASCADE,
  name             TEXT NOT NULL,
  language         TEXT NOT NULL,
  category         TEXT NOT NULL CHECK (category IN ('MARKETING', 'UTILITY', 'AUTHENTICATION')),
  status           TEXT NOT NULL CHECK (status IN ('draft', 'pending', 'approved', 'rejected', 'paused', 'disabled')),
  parameter_format TEXT NOT NULL CHECK (parameter_format IN ('POSITIONAL', 'NAMED')),
  components       TEXT NOT NULL,
  reason           TEXT NOT NULL DEFAULT '',
  poll_at          BIGINT NOT NULL DEFAULT 0,
  claimed_until    BIGINT NOT NULL DEFAULT 0,
  created_at       BIGINT NOT NULL,
  updated_at       BIGINT NOT NULL,
  PRIMARY KEY (company_id, id),
  UNIQUE (sender, name, language)
);
CREATE INDEX template_provider ON template (sender, provider_id) WHERE provider_id <> '';
CREATE INDEX template_poll ON template (poll_at) WHERE poll_at > 0;

CREATE TABLE template_creation (
  company_id TEXT NOT NULL,
  day        TEXT NOT NULL,
  used       INTEGER NOT NULL,
  PRIMARY KEY (company_id, day)
);

-- Agents, knowledge, flows, widgets and webhooks: each area defines the document of its kind.
CREATE TABLE resource (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL,
  id         TEXT NOT NULL,
  name       TEXT NOT NULL,
  active     BOOLEAN NOT NULL DEFAULT TRUE,
  doc        TEXT NOT NULL,
  sealed     TEXT NOT NULL DEFAULT '',
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (company_id, kind, id),
  UNIQUE (company_id, kind, name)
);
CREATE INDEX resource_id ON resource (kind, id);

CREATE TABLE suppression (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  number     TEXT NOT NULL,
  type       TEXT NOT NULL CHECK (type IN ('all', 'marketing')),
  reason     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (company_id, number)
){without_rowid};

-- What screens show as it happens. seq counts within the topic of a company, without gaps: event_topic holds the last one,
-- and its row's lock makes the order of the numbers the order of the commits.
CREATE TABLE event_topic (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  topic      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  PRIMARY KEY (company_id, topic)
){without_rowid};

CREATE TABLE event (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  topic      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  kind       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  payload    TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (company_id, topic, seq)
){without_rowid};
CREATE INDEX event_age ON event (created_at);

-- Until when a stream of a topic is open on some node, unless that node renews it.
CREATE TABLE event_interest (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  topic      TEXT NOT NULL,
  until      BIGINT NOT NULL,
  PRIMARY KEY (company_id, topic)
){without_rowid};

CREATE TABLE node (
  id   TEXT PRIMARY KEY,
  beat BIGINT NOT NULL,
  name TEXT NOT NULL,
  fit  INTEGER NOT NULL,
  slot INTEGER NOT NULL
){hot};

CREATE TABLE shard (
  id     INTEGER PRIMARY KEY,
  owner  TEXT,
  epoch  BIGINT NOT NULL,
  writes BIGINT NOT NULL
){hot};

-- Circuit breakers that are not closed.
CREATE TABLE breaker (
  sender     BIGINT PRIMARY KEY REFERENCES sender (uid) ON DELETE CASCADE,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('open', 'half_open')),
  fault      TEXT NOT NULL,
  detail     TEXT NOT NULL,
  since      BIGINT NOT NULL,
  until      BIGINT NOT NULL
);
CREATE INDEX breaker_company ON breaker (company_id, sender);

CREATE TABLE quota (
  company_id TEXT NOT NULL,
  day        TEXT NOT NULL,
  part       INTEGER NOT NULL DEFAULT 0,
  used       BIGINT NOT NULL,
  bytes      BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, day, part)
){hot};

CREATE TABLE rate (
  name   TEXT NOT NULL,
  start  BIGINT NOT NULL,
  used   BIGINT NOT NULL,
  PRIMARY KEY (name, start)
){hot};
CREATE INDEX rate_start ON rate (start);

CREATE TABLE idempotency (
  company_id      TEXT NOT NULL,
  route           TEXT NOT NULL,
  key             TEXT NOT NULL,
  hash            TEXT NOT NULL,
  notification_id TEXT NOT NULL,
  answer          TEXT NOT NULL,
  expires_at      BIGINT NOT NULL,
  PRIMARY KEY (company_id, route, key)
){without_rowid};
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- The id carries seq (adr/0015). What a list shows of the request has columns of its own, so that only a delivery reads
-- bodies. Those come last: SQLite reads a row from its beginning, and a long body fills further pages.
CREATE TABLE notification (
  seq           {integer_key},
  id            TEXT NOT NULL,
  company_id    TEXT NOT NULL,
  channel       TEXT NOT NULL CHECK (channel IN ('messaging', 'voice')),
  sender        BIGINT NOT NULL,
  template_id   TEXT NOT NULL,
  class         INTEGER NOT NULL,
  campaign      TEXT NOT NULL,
  flat          BOOLEAN NOT NULL,
  total         INTEGER NOT NULL,
  open          INTEGER NOT NULL,
  scheduled     BOOLEAN NOT NULL,
  canceled      BOOLEAN NOT NULL DEFAULT FALSE,
  created_at    BIGINT NOT NULL,
  due_at        BIGINT NOT NULL,
  moved_at      BIGINT NOT NULL DEFAULT 0,
  done_at       BIGINT NOT NULL DEFAULT 0,
  recipient_id  TEXT NOT NULL DEFAULT '',
  name_template TEXT NOT NULL DEFAULT '',
  language      TEXT NOT NULL DEFAULT '',
  agent_id      TEXT NOT NULL DEFAULT '',
  name_event    TEXT NOT NULL DEFAULT '',
  notes         TEXT NOT NULL,
  body          TEXT NOT NULL
){hot};
CREATE INDEX notification_company ON notification (company_id, seq);
-- The sweep over all that is open finds here what it asks for, and reads no row.
CREATE INDEX notification_open ON notification (company_id, seq, due_at, open) WHERE open > 0;
CREATE INDEX notification_canceled ON notification (company_id, seq) WHERE canceled;
CREATE INDEX notification_done ON notification (company_id, done_at) WHERE open = 0;

-- The id is the notification's seq and seven bits of the message's place among its recipients.
CREATE TABLE message (
  id           {integer_key},
  shard        INTEGER NOT NULL,
  sender       BIGINT NOT NULL,
  class        INTEGER NOT NULL,
  number       TEXT NOT NULL,
  q            INTEGER NOT NULL CHECK (q BETWEEN 0 AND 3),
  rank         INTEGER NOT NULL DEFAULT 0,
  hold         TEXT NOT NULL DEFAULT '',
  due_at       BIGINT NOT NULL,
  attempt      INTEGER NOT NULL DEFAULT 0,
  epoch        BIGINT NOT NULL DEFAULT 0,
  provider_id  TEXT,
  reason       TEXT,
  detail       TEXT,
  started_at   BIGINT,
  sent_at      BIGINT,
  delivered_at BIGINT,
  read_at      BIGINT,
  ended_at     BIGINT
){hot};
CREATE INDEX message_due ON message (shard, sender, class, due_at) WHERE q = 1 AND hold = '';
CREATE INDEX message_flight ON message (shard, due_at) WHERE q >= 2;
CREATE INDEX message_held ON message (hold) WHERE q = 1 AND hold <> '';

-- One call of a notification, or of its own; the id is made as a message's. q is 0 once it has ended, 1 while it is queued,
-- 2 from dialing to its end, on the node that dials. attempt counts starts, dials those that reached the network.
CREATE TABLE call (
  id          {integer_key},
  company_id  TEXT NOT NULL,
  shard       INTEGER NOT NULL,
  sender      BIGINT NOT NULL,
  class       INTEGER NOT NULL,
  number      TEXT NOT NULL,
  q           INTEGER NOT NULL CHECK (q BETWEEN 0 AND 2),
  hold        TEXT NOT NULL DEFAULT '',
  due_at      BIGINT NOT NULL,
  attempt     INTEGER NOT NULL DEFAULT 0,
  dials       INTEGER NOT NULL DEFAULT 0,
  epoch       BIGINT NOT NULL DEFAULT 0,
  node        TEXT NOT NULL DEFAULT '',
  hang_up     BOOLEAN NOT NULL DEFAULT FALSE,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  cause       TEXT NOT NULL DEFAULT '',
  ended_by    TEXT NOT NULL DEFAULT '',
  answered_by TEXT NOT NULL DEFAULT '',
  dialed_at   BIGINT NOT NULL DEFAULT 0,
  ringing_at  BIGINT NOT NULL DEFAULT 0,
  answered_at BIGINT NOT NULL DEFAULT 0,
  ended_at    BIGINT NOT NULL DEFAULT 0
){hot};
CREATE INDEX call_due ON call (shard, sender, class, due_at) WHERE q = 1 AND hold = '';
CREATE INDEX call_flight ON call (shard, sender) WHERE q = 2;
CREATE INDEX call_node ON call (node) WHERE q = 2;
CREATE INDEX call_held ON call (hold) WHERE q = 1 AND hold <> '';

CREATE TABLE call_attempt (
  call        BIGINT NOT NULL,
  attempt     INTEGER NOT NULL,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  cause       TEXT NOT NULL DEFAULT '',
  counts      BOOLEAN NOT NULL DEFAULT FALSE,
  dialed_at   BIGINT NOT NULL,
  ringing_at  BIGINT NOT NULL DEFAULT 0,
  answered_at BIGINT NOT NULL DEFAULT 0,
  ended_at    BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (call, attempt)
){without_rowid};

-- Filled behind, in sorted chunks: finds notifications by a recipient's number or by a digest of their campaign.
CREATE TABLE search (
  company_id TEXT NOT NULL,
  field      TEXT NOT NULL CHECK (field IN ('number', 'campaign')),
  value      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  PRIMARY KEY (company_id, field, value, seq)
){without_rowid};
