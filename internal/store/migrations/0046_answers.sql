-- Responses of agents to questions, by the hour of the response and by their outcome, and the thumbs that visitors gave them.
CREATE TABLE answer_count (
  company_id  TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  hour        BIGINT NOT NULL,
  agent_id    TEXT NOT NULL,
  answered    BIGINT NOT NULL,
  offered     BIGINT NOT NULL,
  handed_over BIGINT NOT NULL,
  unanswered  BIGINT NOT NULL,
  up          BIGINT NOT NULL,
  down        BIGINT NOT NULL,
  PRIMARY KEY (company_id, hour, agent_id)
){without_rowid};
CREATE INDEX answer_count_hour ON answer_count (hour);

-- Answers from an article (its title as visitors see it) and their thumbs. at is the time of the last one.
CREATE TABLE article_count (
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  knowledge_id TEXT NOT NULL,
  title        TEXT NOT NULL,
  answered     BIGINT NOT NULL,
  up           BIGINT NOT NULL,
  down         BIGINT NOT NULL,
  at           BIGINT NOT NULL,
  PRIMARY KEY (company_id, knowledge_id, title)
){without_rowid};
CREATE INDEX article_count_age ON article_count (at);

-- How many times of asked the agent offered articles and none was chosen, and how many times the answer was marked as wrong; of the
-- last wrong answer the base, the article and the passage.
ALTER TABLE question ADD COLUMN offered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE question ADD COLUMN wrong BIGINT NOT NULL DEFAULT 0;
ALTER TABLE question ADD COLUMN knowledge_id TEXT NOT NULL DEFAULT '';
ALTER TABLE question ADD COLUMN article TEXT NOT NULL DEFAULT '';
ALTER TABLE question ADD COLUMN passage TEXT NOT NULL DEFAULT '';
