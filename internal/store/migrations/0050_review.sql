-- review_at is when the review of a conversation is due, or when the claim of the node that makes it lapses (0: none is due).
-- review_tries counts the attempts.
ALTER TABLE conversation ADD COLUMN review_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN review_tries BIGINT NOT NULL DEFAULT 0;
CREATE INDEX conversation_review ON conversation (review_at) WHERE review_at > 0;

-- The latest review of a conversation. seq is the last turn that it covers, ended_at the time of the last message. goal is empty without a
-- goal of the agent. topics is a JSON list, doc has the texts and results in JSON.
CREATE TABLE review (
  conversation_id TEXT PRIMARY KEY REFERENCES conversation (id) ON DELETE CASCADE,
  company_id      TEXT NOT NULL,
  agent_id        TEXT NOT NULL,
  seq             BIGINT NOT NULL,
  ended_at        BIGINT NOT NULL,
  at              BIGINT NOT NULL,
  maker           TEXT NOT NULL,
  goal            TEXT NOT NULL CHECK (goal IN ('', 'yes', 'no', 'unknown')),
  topics          TEXT NOT NULL,
  doc             TEXT NOT NULL
){without_rowid};

-- Numbers of reviews with a value of a kind (maker, goal, topic, or result with its name), by the hour of the last message.
CREATE TABLE review_count (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  hour       BIGINT NOT NULL,
  agent_id   TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('maker', 'goal', 'topic', 'result')),
  name       TEXT NOT NULL,
  value      TEXT NOT NULL,
  reviews    BIGINT NOT NULL,
  PRIMARY KEY (company_id, hour, agent_id, kind, name, value)
){without_rowid};
CREATE INDEX review_count_hour ON review_count (hour);

-- The call that a conversation belongs to.
CREATE INDEX call_conversation ON call (conversation_id) WHERE conversation_id <> '';
CREATE INDEX incoming_call_conversation ON incoming_call (conversation_id) WHERE conversation_id <> '';
