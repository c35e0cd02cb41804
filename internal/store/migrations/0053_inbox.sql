-- waiting_at is when the contact began to wait for a teammate (0: nobody waits). notice_at is when the next notice to teammates about this wait
-- is due (0: none); the first one is due at waiting_at. unanswered is the beginning of the last question that the agent left open. undo is the
-- state before a teammate's last change, in JSON.
ALTER TABLE conversation ADD COLUMN waiting_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN notice_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN unanswered TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN undo TEXT NOT NULL DEFAULT '';
UPDATE conversation SET waiting_at = state_at WHERE state IN ('queued', 'missed', 'abandoned');
UPDATE conversation SET unanswered = (SELECT SUBSTR(MAX(q.text), 1, 160) FROM question AS q WHERE q.conversation_id = conversation.id)
  WHERE id IN (SELECT conversation_id FROM question WHERE text <> '');
CREATE INDEX conversation_longest ON conversation (company_id, waiting_at, id) WHERE waiting_at > 0;
CREATE INDEX conversation_unanswered ON conversation (company_id, last_at, id) WHERE unanswered <> '';
CREATE INDEX conversation_notice ON conversation (notice_at) WHERE notice_at > 0;

-- How a company's teammates learn of waiting visitors, and visitors of replies, in JSON.
ALTER TABLE company ADD COLUMN inbox TEXT NOT NULL DEFAULT '{}';

-- A teammate's own choices. Quiet hours are minutes of the day in zone; equal minutes mean none.
CREATE TABLE notice_choice (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  push       BOOLEAN NOT NULL,
  mail       BOOLEAN NOT NULL,
  quiet_from BIGINT NOT NULL,
  quiet_to   BIGINT NOT NULL,
  zone       TEXT NOT NULL,
  language   TEXT NOT NULL,
  PRIMARY KEY (company_id, account_id)
);
CREATE INDEX notice_choice_account ON notice_choice (account_id);

-- Browsers that get web push messages for a teammate. digest identifies the endpoint; endpoint and keys are sealed. The session is the one that
-- subscribed: without it, nothing is sent.
CREATE TABLE push_subscription (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL,
  sealed     TEXT NOT NULL,
  agent      TEXT NOT NULL,
  language   TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (digest)
);
CREATE INDEX push_subscription_account ON push_subscription (company_id, account_id, id);
CREATE INDEX push_subscription_owner ON push_subscription (account_id);
CREATE INDEX push_subscription_session ON push_subscription (session_id);

-- The installation's key pair for web push (VAPID).
CREATE TABLE push_key (
  name       TEXT PRIMARY KEY,
  public     TEXT NOT NULL,
  sealed     TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- Replies of teammates that go to visitors by e-mail. Those with the same batch (0: none yet) are one e-mail, whose Message-ID has the batch.
-- due_at is when the reply is due or, while it is being sent, when another node may try again.
CREATE TABLE mail_reply (
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  seq             BIGINT NOT NULL,
  company_id      TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'seen')),
  batch           BIGINT NOT NULL DEFAULT 0,
  attempt         BIGINT NOT NULL DEFAULT 0,
  due_at          BIGINT NOT NULL,
  changed_at      BIGINT NOT NULL,
  reason          TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (conversation_id, seq)
);
CREATE INDEX mail_reply_due ON mail_reply (due_at, conversation_id) WHERE state IN ('queued', 'sending');
