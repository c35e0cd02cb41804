-- What is said in a call is a conversation.
ALTER TABLE call ADD COLUMN conversation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE call ADD COLUMN recording TEXT NOT NULL DEFAULT '';
