-- What a sender's channel says of it. notice is the last event that the channel reported about the account or the number by itself;
-- quality and messages are the channel's words for how well messages are received and how many may be sent. findings are the last
-- check's, a document.
CREATE TABLE sender_report (
  sender       BIGINT PRIMARY KEY REFERENCES sender (uid) ON DELETE CASCADE,
  handshake_at BIGINT NOT NULL DEFAULT 0,
  callback_at  BIGINT NOT NULL DEFAULT 0,
  notice       TEXT NOT NULL DEFAULT '',
  notice_at    BIGINT NOT NULL DEFAULT 0,
  quality      TEXT NOT NULL DEFAULT '',
  quality_at   BIGINT NOT NULL DEFAULT 0,
  messages     TEXT NOT NULL DEFAULT '',
  messages_at  BIGINT NOT NULL DEFAULT 0,
  findings     TEXT NOT NULL DEFAULT '[]',
  checked_at   BIGINT NOT NULL DEFAULT 0
);
