-- Parts of the history of a number that was used in the channel's own app, as received. A part waits (due_at > 0) until it is read;
-- then its content is dropped. The row is kept for a while so that a repetition is known.
CREATE TABLE past_part (
  sender_uid  BIGINT NOT NULL,
  digest      TEXT NOT NULL,
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  kind        TEXT NOT NULL,
  content     TEXT NOT NULL,
  tries       INTEGER NOT NULL DEFAULT 0,
  due_at      BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (sender_uid, digest)
){hot};
CREATE INDEX past_part_due ON past_part (sender_uid, received_at) WHERE due_at > 0;
CREATE INDEX past_part_company ON past_part (company_id, sender_uid, digest);
CREATE INDEX past_part_age ON past_part (received_at);

-- Messages of the history. number is the person's, or the channel's id of the person. A message waits until it is a turn of a
-- conversation; then its content is dropped, unless its file is to be loaded (file_at > 0) or absent: the channel has not named it, but
-- a later part may. Rows are kept for a while so that a repetition is known.
CREATE TABLE past_message (
  sender_uid      BIGINT NOT NULL,
  provider_id     TEXT NOT NULL,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  number          TEXT NOT NULL,
  at              BIGINT NOT NULL,
  content         TEXT NOT NULL,
  absent          BOOLEAN NOT NULL DEFAULT FALSE,
  conversation_id TEXT NOT NULL DEFAULT '',
  seq             BIGINT NOT NULL DEFAULT 0,
  file_at         BIGINT NOT NULL DEFAULT 0,
  tries           INTEGER NOT NULL DEFAULT 0,
  received_at     BIGINT NOT NULL,
  PRIMARY KEY (sender_uid, provider_id)
){hot};
CREATE INDEX past_message_open ON past_message (sender_uid, number, at, provider_id) WHERE conversation_id = '';
CREATE INDEX past_message_person ON past_message (sender_uid, number, at, seq) WHERE conversation_id <> '';
CREATE INDEX past_message_file ON past_message (sender_uid, file_at) WHERE file_at > 0;
CREATE INDEX past_message_company ON past_message (company_id);
CREATE INDEX past_message_age ON past_message (received_at);

-- The import of a sender's history. asked_at and contacts_at: when the company asked the channel for it. due_at: when the import goes on,
-- or until when a node has it; 0 if nothing is left to do.
CREATE TABLE past_import (
  sender        BIGINT PRIMARY KEY REFERENCES sender (uid) ON DELETE CASCADE,
  company_id    TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  asked_at      BIGINT NOT NULL DEFAULT 0,
  contacts_at   BIGINT NOT NULL DEFAULT 0,
  phase         INTEGER NOT NULL DEFAULT 0,
  progress      INTEGER NOT NULL DEFAULT 0,
  refused       BOOLEAN NOT NULL DEFAULT FALSE,
  messages      BIGINT NOT NULL DEFAULT 0,
  conversations BIGINT NOT NULL DEFAULT 0,
  names         BIGINT NOT NULL DEFAULT 0,
  received_at   BIGINT NOT NULL DEFAULT 0,
  due_at        BIGINT NOT NULL DEFAULT 0,
  node          TEXT NOT NULL DEFAULT ''
){hot};
CREATE INDEX past_import_due ON past_import (due_at) WHERE due_at > 0;
CREATE INDEX past_import_company ON past_import (company_id);
