-- Senders whose number the channel, or the operator by a set-up, confirmed to be their company's. number is the one that was confirmed;
-- declared says that the operator did, and named the sender's id too. Until the next check or set-up that is none of those that are older than
-- this.
CREATE TABLE number_proof (
  sender    BIGINT PRIMARY KEY REFERENCES sender (uid) ON DELETE CASCADE,
  number    TEXT NOT NULL,
  declared  BOOLEAN NOT NULL,
  proved_at BIGINT NOT NULL
);
