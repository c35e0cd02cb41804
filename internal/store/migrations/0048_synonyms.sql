-- Synonyms of a base, one group a line, for the searches in it.
ALTER TABLE knowledge_index ADD COLUMN synonyms TEXT NOT NULL DEFAULT '';
