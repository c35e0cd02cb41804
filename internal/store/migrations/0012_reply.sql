-- What people write to a sender. The provider may report it more than once and in any order: a message is one row by the provider's id.
-- It waits (due_at > 0) until it is a turn of the conversation, and is kept for a while so that a repetition is known.
CREATE TABLE inbound_message (
  sender_uid  BIGINT NOT NULL,
  provider_id TEXT NOT NULL,
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  number      TEXT NOT NULL,
  content     TEXT NOT NULL,
  tries       INTEGER NOT NULL DEFAULT 0,
  due_at      BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (sender_uid, provider_id)
){hot};
CREATE INDEX inbound_message_due ON inbound_message (due_at, received_at) WHERE due_at > 0;
CREATE INDEX inbound_message_person ON inbound_message (sender_uid, number, received_at) WHERE due_at > 0;
CREATE INDEX inbound_message_company ON inbound_message (company_id);
CREATE INDEX inbound_message_age ON inbound_message (received_at);

-- The customer service window of a conversation: until until_at replies may be sent by sender_uid, to whom the person wrote last.
CREATE TABLE reply_window (
  conversation_id TEXT PRIMARY KEY REFERENCES conversation (id) ON DELETE CASCADE,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  sender_uid      BIGINT NOT NULL,
  number          TEXT NOT NULL,
  last_id         TEXT NOT NULL,
  until_at        BIGINT NOT NULL
);
CREATE INDEX reply_window_company ON reply_window (company_id);

-- Replies: turns of the company in a conversation over a sender. They are sent one after the other: due_at is 0 while the one before
-- is not done. State sending with a lease that has run out means that the outcome is unknown.
CREATE TABLE reply (
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  seq             BIGINT NOT NULL,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  sender_uid      BIGINT NOT NULL,
  number          TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'unknown')),
  attempt         INTEGER NOT NULL DEFAULT 0,
  due_at          BIGINT NOT NULL,
  provider_id     TEXT NOT NULL DEFAULT '',
  reason          TEXT NOT NULL DEFAULT '',
  detail          TEXT NOT NULL DEFAULT '',
  changed_at      BIGINT NOT NULL,
  PRIMARY KEY (conversation_id, seq)
){hot};
CREATE INDEX reply_due ON reply (due_at) WHERE due_at > 0;
CREATE INDEX reply_waiting ON reply (conversation_id, seq) WHERE state IN ('queued', 'sending');
CREATE INDEX reply_company ON reply (company_id);
