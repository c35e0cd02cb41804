-- What the agent of a conversation keeps between two messages: JSON in the terms of package agent, such as a call of a tool that waits for
-- its confirmation ('': nothing). Handing over and the end clear it.
ALTER TABLE conversation ADD COLUMN memory TEXT NOT NULL DEFAULT '';
