-- The keys of companies, sealed by the master key: what belongs to a company is sealed by its own key. links identifies the key of its
-- counted links if another installation made it.
CREATE TABLE company_key (
  company_id TEXT PRIMARY KEY REFERENCES company (id) ON DELETE CASCADE,
  sealed     TEXT NOT NULL,
  links      TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL
);
CREATE INDEX company_key_links ON company_key (links, company_id) WHERE links <> '';
