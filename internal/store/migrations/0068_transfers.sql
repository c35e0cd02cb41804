-- Results of second legs, which a person takes by a key. Legs of older programs were taken by their answer.
ALTER TABLE call_transfer ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
ALTER TABLE call_transfer ADD COLUMN taken_at BIGINT NOT NULL DEFAULT 0;
UPDATE call_transfer SET taken_at = answered_at, outcome = CASE
  WHEN answered_at > 0 THEN 'taken'
  WHEN state = 'busy' THEN 'busy'
  WHEN state = 'no_answer' THEN 'unanswered'
  WHEN state = 'rejected' THEN 'declined'
  WHEN state = 'canceled' THEN 'caller_left'
  ELSE 'failed' END WHERE NOT under_way;

-- Calls that an agent transfers, in the order in which they asked for it: the first ones are connected or being connected, the
-- others wait. A row goes with the end of the transfer, of the call or of its conversation.
CREATE TABLE transfer_queue (
  conversation_id TEXT PRIMARY KEY REFERENCES conversation (id) ON DELETE CASCADE,
  company_id      TEXT NOT NULL,
  agent_id        TEXT NOT NULL,
  place           BIGINT NOT NULL,
  entered_at      BIGINT NOT NULL
);
CREATE UNIQUE INDEX transfer_queue_place ON transfer_queue (company_id, agent_id, place);
