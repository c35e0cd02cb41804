-- What the contact of a conversation was asked last and has not answered: the name of a result that its agent asks for, or -person where
-- a teammate was proposed ('': nothing). asked_seq is the turn that asked it first, of a flow's questions too; what was said before answers
-- nothing that follows.
ALTER TABLE conversation ADD COLUMN asks TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN asked_seq BIGINT NOT NULL DEFAULT 0;

-- The node that takes a message in, or sends a reply ('': none does, though the outcome of the last attempt may be unknown). What a node that
-- is no more was doing is taken up at once.
ALTER TABLE inbound_message ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE reply ADD COLUMN node TEXT NOT NULL DEFAULT '';
