-- Calls accepted in an hour, by state. campaign is as in stat. stat_block.calls is the share of a block in stat_call; older programs keep it.
CREATE TABLE stat_call (
  company_id TEXT NOT NULL,
  campaign   TEXT NOT NULL,
  hour       BIGINT NOT NULL,
  class      INTEGER NOT NULL,
  sender     BIGINT NOT NULL,
  agent      TEXT NOT NULL,
  state      TEXT NOT NULL,
  calls      BIGINT NOT NULL,
  PRIMARY KEY (company_id, campaign, hour, class, sender, agent, state)
){without_rowid};
CREATE INDEX stat_call_hour ON stat_call (hour);
ALTER TABLE stat_block ADD COLUMN calls TEXT NOT NULL DEFAULT '';

-- Existing calls are counted when the program starts.
INSERT INTO stat_node (id, at) SELECT 'calls', created_at FROM notification
  WHERE seq = (SELECT MAX(seq) FROM notification) AND EXISTS (SELECT 1 FROM call);

-- Waits of contacts for a teammate: since when, when a teammate first replied and who, and when the conversation was resolved (0: not yet).
CREATE TABLE handoff (
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  at              BIGINT NOT NULL,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  replied_at      BIGINT NOT NULL,
  replied_by      TEXT NOT NULL,
  resolved_at     BIGINT NOT NULL,
  PRIMARY KEY (conversation_id, at)
){without_rowid};
CREATE INDEX handoff_company ON handoff (company_id, at);

-- The conversation's latest wait, until it goes back to the agent.
ALTER TABLE conversation ADD COLUMN handoff_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN replied_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN replied_by TEXT NOT NULL DEFAULT '';
UPDATE conversation SET handoff_at = waiting_at WHERE waiting_at > 0 AND visitor_seq > 0;
INSERT INTO handoff (conversation_id, at, company_id, replied_at, replied_by, resolved_at)
  SELECT id, handoff_at, company_id, 0, '', 0 FROM conversation WHERE handoff_at > 0;

-- When the contact rated the conversation.
ALTER TABLE conversation ADD COLUMN rated_at BIGINT NOT NULL DEFAULT 0;
UPDATE conversation SET rated_at = CASE WHEN resolved_at > 0 THEN resolved_at ELSE last_at END WHERE rating > 0;
CREATE INDEX conversation_rated ON conversation (company_id, rated_at) WHERE rated_at > 0;
