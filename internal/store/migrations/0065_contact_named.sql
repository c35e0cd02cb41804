-- named: the name is the one in the company's address book at the channel, which the person's own name there does not replace.
ALTER TABLE contact ADD COLUMN named BOOLEAN NOT NULL DEFAULT FALSE;
