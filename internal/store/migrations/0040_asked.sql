-- What the contact of a conversation was asked last and has not answered: the name of a result that its agent asks for, -person where a
-- teammate was proposed, -flow where a flow asks ('': nothing). asked_seq is the turn that asked it first, or the one after the answer:
-- what was said before it is no answer to what follows.
ALTER TABLE conversation ADD COLUMN asks TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN asked_seq BIGINT NOT NULL DEFAULT 0;

-- The node that takes a message in, sends a reply or does the effect of a run ('': none is at it, though the outcome of the last attempt
-- may be unknown). What a node was doing that is no more is taken up at once.
ALTER TABLE inbound_message ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE reply ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE flow_run ADD COLUMN node TEXT NOT NULL DEFAULT '';
