-- How delivery to an endpoint of events stands. While it is failing, nothing is sent before pause_until; wake_at is when the next of the
-- deliveries that are tried again is due, 0: none is. Alerts counts the e-mails that its owners got since it fails.
CREATE TABLE hook (
  company_id    TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  webhook_id    TEXT NOT NULL,
  failures      INTEGER NOT NULL DEFAULT 0,
  failing_since BIGINT NOT NULL DEFAULT 0,
  pause_until   BIGINT NOT NULL DEFAULT 0,
  wake_at       BIGINT NOT NULL DEFAULT 0,
  disabled_at   BIGINT NOT NULL DEFAULT 0,
  disabled_why  TEXT NOT NULL DEFAULT '',
  alerts        INTEGER NOT NULL DEFAULT 0,
  succeeded_at  BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, webhook_id)
){hot};

-- The events of a topic up to seq are delivered to the endpoint, not for it, or in hook_retry.
CREATE TABLE hook_cursor (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL,
  topic      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  PRIMARY KEY (company_id, webhook_id, topic)
){hot};

-- Deliveries that failed or were asked for again: waiting ones are tried at next_at, failed ones were tried for three days. begun_at is
-- when an event was tried first, 0: it was not yet.
CREATE TABLE hook_retry (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL,
  topic      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  subject    TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('waiting', 'failed')),
  attempt    INTEGER NOT NULL,
  begun_at   BIGINT NOT NULL,
  next_at    BIGINT NOT NULL,
  PRIMARY KEY (company_id, webhook_id, topic, seq)
){without_rowid};
CREATE INDEX hook_retry_due ON hook_retry (company_id, webhook_id, state, next_at);
CREATE INDEX hook_retry_subject ON hook_retry (company_id, webhook_id, subject, seq) WHERE state = 'waiting';
CREATE INDEX hook_retry_age ON hook_retry (next_at) WHERE state = 'failed';

-- What was sent to endpoints, and what they responded: the latest of each.
CREATE TABLE hook_attempt (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL,
  event_id   TEXT NOT NULL,
  kind       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  at         BIGINT NOT NULL,
  took       BIGINT NOT NULL,
  ok         BOOLEAN NOT NULL,
  status     INTEGER NOT NULL,
  error      TEXT NOT NULL,
  request    TEXT NOT NULL,
  response   TEXT NOT NULL
){without_rowid};
CREATE INDEX hook_attempt_list ON hook_attempt (company_id, webhook_id, id);
CREATE INDEX hook_attempt_failed ON hook_attempt (company_id, webhook_id, id) WHERE NOT ok;
CREATE INDEX hook_attempt_event ON hook_attempt (company_id, event_id, id);

-- Endpoints that were declared before events were sent begin with what happens from now on.
INSERT INTO hook (company_id, webhook_id) SELECT company_id, id FROM resource WHERE kind = 'webhook';
INSERT INTO hook_cursor (company_id, webhook_id, topic, seq)
  SELECT r.company_id, r.id, x.topic, COALESCE(t.seq, 0) FROM resource AS r
  CROSS JOIN (SELECT 'notifications' AS topic UNION ALL SELECT 'calls' UNION ALL SELECT 'templates' UNION ALL SELECT 'conversations') AS x
  LEFT JOIN event_topic AS t ON t.company_id = r.company_id AND t.topic = x.topic
  WHERE r.kind = 'webhook';
