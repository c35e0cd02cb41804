-- Who a company talks with: a visitor of a widget, by the id that the page keeps or, verified, by the one that the company's
-- own application signed. The two are never the same contact.
CREATE TABLE contact (
  id         TEXT PRIMARY KEY,
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  widget_id  TEXT NOT NULL,
  visitor_id TEXT NOT NULL,
  verified   BOOLEAN NOT NULL,
  name       TEXT NOT NULL DEFAULT '',
  email      TEXT NOT NULL DEFAULT '',
  number     TEXT NOT NULL DEFAULT '',
  language   TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL,
  UNIQUE (company_id, widget_id, verified, visitor_id)
);

-- last_* describe the newest turn that people see; visitor_seq is the visitor's last turn, company_seq the last turn of the
-- company's side. A conversation is unread while visitor_seq > read_seq. reply_seq is the visitor's turn that waits for the
-- agent since reply_at; 0: none.
CREATE TABLE conversation (
  id           TEXT PRIMARY KEY,
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  channel      TEXT NOT NULL CHECK (channel IN ('web_chat', 'web_voice', 'whatsapp', 'phone')),
  widget_id    TEXT NOT NULL DEFAULT '',
  agent_id     TEXT NOT NULL DEFAULT '',
  contact_id   TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
  state        TEXT NOT NULL CHECK (state IN ('bot', 'queued', 'active', 'wrap_up', 'resolved', 'missed', 'abandoned')),
  state_at     BIGINT NOT NULL,
  assignee     TEXT NOT NULL DEFAULT '',
  language     TEXT NOT NULL DEFAULT '',
  page         TEXT NOT NULL DEFAULT '',
  tags         TEXT NOT NULL DEFAULT '[]',
  last_seq     BIGINT NOT NULL DEFAULT 0,
  last_at      BIGINT NOT NULL,
  last_author  TEXT NOT NULL DEFAULT '',
  last_text    TEXT NOT NULL DEFAULT '',
  visitor_seq  BIGINT NOT NULL DEFAULT 0,
  company_seq  BIGINT NOT NULL DEFAULT 0,
  read_seq     BIGINT NOT NULL DEFAULT 0,
  seen_seq     BIGINT NOT NULL DEFAULT 0,
  reply_seq    BIGINT NOT NULL DEFAULT 0,
  reply_at     BIGINT NOT NULL DEFAULT 0,
  rating       INTEGER NOT NULL DEFAULT 0,
  comment      TEXT NOT NULL DEFAULT '',
  opened_at    BIGINT NOT NULL,
  resolved_at  BIGINT NOT NULL DEFAULT 0
){hot};
-- A contact has one open conversation.
CREATE UNIQUE INDEX conversation_open ON conversation (contact_id) WHERE state <> 'resolved';
CREATE INDEX conversation_contact ON conversation (contact_id, opened_at);
CREATE INDEX conversation_age ON conversation (company_id, last_at, id);
CREATE INDEX conversation_state ON conversation (company_id, state, last_at, id);
CREATE INDEX conversation_mine ON conversation (company_id, assignee, last_at, id) WHERE assignee <> '';
CREATE INDEX conversation_reply ON conversation (reply_at) WHERE reply_at > 0;
CREATE INDEX conversation_waiting ON conversation (state, state_at) WHERE state IN ('queued', 'wrap_up');

-- seq counts within the conversation, without gaps, in the order of the commits. A client id is the author's own, and names
-- the same turn when it is sent again. A note is for teammates only.
CREATE TABLE turn (
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  seq             BIGINT NOT NULL,
  author          TEXT NOT NULL CHECK (author IN ('visitor', 'agent', 'teammate', 'system')),
  kind            TEXT NOT NULL CHECK (kind IN ('text', 'choices', 'choice', 'file', 'event')),
  note            BOOLEAN NOT NULL DEFAULT FALSE,
  account_id      TEXT NOT NULL DEFAULT '',
  client_id       TEXT NOT NULL DEFAULT '',
  at              BIGINT NOT NULL,
  text            TEXT NOT NULL,
  payload         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (conversation_id, seq)
){without_rowid};
CREATE UNIQUE INDEX turn_client ON turn (conversation_id, client_id) WHERE client_id <> '';

-- Which teammates are there to take conversations: a screen of the inbox is open, and they did not say that they are away.
CREATE TABLE presence (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  away       BOOLEAN NOT NULL DEFAULT FALSE,
  until      BIGINT NOT NULL,
  PRIMARY KEY (company_id, account_id)
){hot};
CREATE INDEX presence_account ON presence (account_id);
