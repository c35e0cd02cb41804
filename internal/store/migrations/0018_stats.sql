-- What became of recipients, counted off the hot path (internal/store/stats). A row of stat counts those that were accepted in an
-- hour, by what they have in common. campaign is a digest of the campaign's name; '' has the same counts for all campaigns.
-- late_0 and on count messages by how late they were sent.
CREATE TABLE stat (
  company_id TEXT NOT NULL,
  campaign   TEXT NOT NULL,
  hour       BIGINT NOT NULL,
  class      INTEGER NOT NULL,
  sender     BIGINT NOT NULL,
  template   TEXT NOT NULL,
  language   TEXT NOT NULL,
  channel    TEXT NOT NULL,
  accepted   BIGINT NOT NULL,
  waiting    BIGINT NOT NULL,
  sent       BIGINT NOT NULL,
  delivered  BIGINT NOT NULL,
  read       BIGINT NOT NULL,
  failed     BIGINT NOT NULL,
  skipped    BIGINT NOT NULL,
  canceled   BIGINT NOT NULL,
  late_ms    BIGINT NOT NULL,
  late_0     BIGINT NOT NULL,
  late_1     BIGINT NOT NULL,
  late_2     BIGINT NOT NULL,
  late_3     BIGINT NOT NULL,
  late_4     BIGINT NOT NULL,
  late_5     BIGINT NOT NULL,
  late_6     BIGINT NOT NULL,
  late_7     BIGINT NOT NULL,
  late_8     BIGINT NOT NULL,
  late_9     BIGINT NOT NULL,
  late_10    BIGINT NOT NULL,
  late_11    BIGINT NOT NULL,
  PRIMARY KEY (company_id, campaign, hour, class, sender, template, language)
){without_rowid};
CREATE INDEX stat_hour ON stat (hour);

-- Each campaign since its first use. at is when it was used last.
CREATE TABLE stat_campaign (
  company_id TEXT NOT NULL,
  campaign   TEXT NOT NULL,
  name       TEXT NOT NULL,
  first_at   BIGINT NOT NULL,
  at         BIGINT NOT NULL,
  accepted   BIGINT NOT NULL,
  waiting    BIGINT NOT NULL,
  sent       BIGINT NOT NULL,
  delivered  BIGINT NOT NULL,
  read       BIGINT NOT NULL,
  failed     BIGINT NOT NULL,
  skipped    BIGINT NOT NULL,
  canceled   BIGINT NOT NULL,
  PRIMARY KEY (company_id, campaign)
){without_rowid};
CREATE INDEX stat_campaign_used ON stat_campaign (company_id, at, campaign);
CREATE INDEX stat_campaign_age ON stat_campaign (at);

-- What stat holds of the notifications of a block, a second of their numbers, while they exist: the next count of the block
-- adds the difference.
CREATE TABLE stat_block (
  block BIGINT PRIMARY KEY,
  doc   TEXT NOT NULL
);

-- Until when all changes that a node made have been counted. The row of a node that ended without counting stays until
-- everything has been counted again.
CREATE TABLE stat_node (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL
);
INSERT INTO stat_node (id, at) SELECT 'before', created_at FROM notification WHERE seq = (SELECT MIN(seq) FROM notification);

-- Who added a number in the panel: an e-mail address.
ALTER TABLE suppression ADD COLUMN author TEXT NOT NULL DEFAULT '';
