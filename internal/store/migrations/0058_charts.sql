-- Calls by what became of them: those accepted in an hour, by state. campaign is as in stat. calls in stat_block is what stat_call holds of a
-- block; programs that do not know the column keep it.
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

-- asked_for_at is when the contact first began to wait for a teammate (0: never), replied_at when a teammate first replied after it, and
-- replied_by the teammate's account.
ALTER TABLE conversation ADD COLUMN asked_for_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN replied_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN replied_by TEXT NOT NULL DEFAULT '';
UPDATE conversation SET asked_for_at = waiting_at WHERE waiting_at > 0;
CREATE INDEX conversation_asked_for ON conversation (company_id, asked_for_at) WHERE asked_for_at > 0;
CREATE INDEX conversation_rated ON conversation (company_id, opened_at) WHERE rating > 0;
