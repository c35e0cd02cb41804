-- What is said in a call is a conversation.
ALTER TABLE call ADD COLUMN conversation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE call ADD COLUMN recording TEXT NOT NULL DEFAULT '';

-- A contact has one open conversation in writing, and any number of calls.
DROP INDEX conversation_open;
CREATE UNIQUE INDEX conversation_open ON conversation (contact_id) WHERE state <> 'resolved' AND channel <> 'phone';
