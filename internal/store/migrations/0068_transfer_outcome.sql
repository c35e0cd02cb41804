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
