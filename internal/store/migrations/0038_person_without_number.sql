-- People who keep their number to themselves: the channel names them by an id, and by a name that they chose and may change.
ALTER TABLE contact ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE contact ADD COLUMN username TEXT NOT NULL DEFAULT '';

-- Replies go to the number where the window has one, else to the person with this id.
ALTER TABLE reply_window ADD COLUMN user_id TEXT NOT NULL DEFAULT '';

-- Who does not want messages: number is the channel's id of a person where no number is known, and user_id that id, beside the number where both
-- are known.
ALTER TABLE suppression ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
CREATE INDEX suppression_person ON suppression (user_id, company_id) WHERE user_id <> '';
