-- What lists show of a resource, in JSON: they need not read its document then, which may be large. updated_at is the document's; a head
-- of another state is not used.
CREATE TABLE resource_head (
  company_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  id         TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  head       TEXT NOT NULL,
  PRIMARY KEY (company_id, kind, id),
  FOREIGN KEY (company_id, kind, id) REFERENCES resource (company_id, kind, id) ON DELETE CASCADE
);

-- What is searched of knowledge is written under an id of its own in short transactions, and used once it is complete: copy is that id
-- ('': the knowledge's own). The row of a copy has version 0; its updated_at is when it was begun.
ALTER TABLE knowledge_index ADD COLUMN copy TEXT NOT NULL DEFAULT '';
CREATE INDEX knowledge_copy ON knowledge_index (updated_at) WHERE version = 0;

-- When a company's secret was used last.
CREATE TABLE secret_use (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  used_at    BIGINT NOT NULL,
  PRIMARY KEY (company_id, id)
);
