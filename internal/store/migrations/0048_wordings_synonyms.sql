-- Synonyms of a base, one group a line, for the searches in it.
ALTER TABLE knowledge_index ADD COLUMN synonyms TEXT NOT NULL DEFAULT '';
-- Other wordings of the question that a passage answers, one a line.
ALTER TABLE passage ADD COLUMN questions TEXT NOT NULL DEFAULT '';
