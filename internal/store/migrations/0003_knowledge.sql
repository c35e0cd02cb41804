-- What is searched of knowledge: its articles in passages, and for every term the passages that have it. It is written in the
-- transaction that writes the resource. version and updated_at say of which form and of which state of the resource it is: where
-- they differ from the program's or the resource's it is made again.
CREATE TABLE knowledge_index (
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  knowledge_id TEXT NOT NULL,
  version      INTEGER NOT NULL,
  updated_at   BIGINT NOT NULL,
  passages     INTEGER NOT NULL,
  PRIMARY KEY (company_id, knowledge_id)
);
CREATE TABLE passage (
  company_id   TEXT NOT NULL,
  knowledge_id TEXT NOT NULL,
  n            INTEGER NOT NULL,
  article      INTEGER NOT NULL,
  title        TEXT NOT NULL,
  text         TEXT NOT NULL,
  url          TEXT NOT NULL,
  language     TEXT NOT NULL,
  PRIMARY KEY (company_id, knowledge_id, n),
  FOREIGN KEY (company_id, knowledge_id) REFERENCES knowledge_index (company_id, knowledge_id) ON DELETE CASCADE
);
-- passages are numbers separated by spaces: twice that of a passage, and one more where its title has the term.
CREATE TABLE passage_term (
  company_id   TEXT NOT NULL,
  knowledge_id TEXT NOT NULL,
  term         TEXT NOT NULL,
  passages     TEXT NOT NULL,
  PRIMARY KEY (company_id, knowledge_id, term),
  FOREIGN KEY (company_id, knowledge_id) REFERENCES knowledge_index (company_id, knowledge_id) ON DELETE CASCADE
){without_rowid};

-- What agents were asked and had no answer to, each question once an agent, by its words.
CREATE TABLE question (
  id              TEXT PRIMARY KEY,
  company_id      TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  agent_id        TEXT NOT NULL,
  words           TEXT NOT NULL,
  text            TEXT NOT NULL,
  language        TEXT NOT NULL,
  asked           BIGINT NOT NULL,
  first_at        BIGINT NOT NULL,
  last_at         BIGINT NOT NULL,
  conversation_id TEXT NOT NULL,
  UNIQUE (company_id, agent_id, words)
);
CREATE INDEX question_recent ON question (company_id, last_at, id);
