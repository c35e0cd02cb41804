-- Bases whose passages get vectors of an embeddings server. model is empty while the vectors of a base that names no server, or is deleted, are
-- removed. due_at says when the vectors are looked at next, and node which node does so until lease_until. rev counts changes of the base, and
-- made_rev those of its vectors.
CREATE TABLE embedding (
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  knowledge_id TEXT NOT NULL,
  base_url     TEXT NOT NULL,
  model        TEXT NOT NULL,
  settings     TEXT NOT NULL,
  question_prefix TEXT NOT NULL,
  passage_prefix  TEXT NOT NULL,
  due_at       BIGINT NOT NULL,
  node         TEXT NOT NULL,
  lease_until  BIGINT NOT NULL,
  rev          BIGINT NOT NULL,
  made_rev     BIGINT NOT NULL,
  made         BIGINT NOT NULL,
  total        BIGINT NOT NULL,
  dimensions   BIGINT NOT NULL,
  made_at      BIGINT NOT NULL,
  failures     BIGINT NOT NULL,
  fault        TEXT NOT NULL,
  detail       TEXT NOT NULL,
  fault_at     BIGINT NOT NULL,
  PRIMARY KEY (company_id, knowledge_id)
);
CREATE INDEX embedding_due ON embedding (due_at);

-- The vectors of a base's passages, by the model that made them and the digest of the text that was sent to it. A vector has a scale (float32,
-- little-endian) and a byte a dimension.
CREATE TABLE passage_vector (
  company_id   TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  knowledge_id TEXT NOT NULL,
  model        TEXT NOT NULL,
  hash         TEXT NOT NULL,
  vector       {bytes} NOT NULL,
  PRIMARY KEY (company_id, knowledge_id, model, hash)
);

-- The digest of the text of a passage that an embeddings server gets.
ALTER TABLE passage ADD COLUMN hash TEXT NOT NULL DEFAULT '';
