-- question is the beginning of the contact's newest message that is no small talk and no wish for a person.
ALTER TABLE conversation ADD COLUMN question TEXT NOT NULL DEFAULT '';

-- answered counts the calls among the delivered: nobody can read a call. stat needs no such column, since its rows have a channel.
ALTER TABLE stat_campaign ADD COLUMN answered BIGINT NOT NULL DEFAULT 0;
UPDATE stat_campaign SET answered = COALESCE((SELECT SUM(s.delivered) FROM stat s
  WHERE s.company_id = stat_campaign.company_id AND s.campaign = stat_campaign.campaign AND s.channel = 'voice'), 0);
