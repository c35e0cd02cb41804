-- The move of a company to or from another installation; a company without a row is in use here. The code frees the
-- company at its new installation: the former one has the code, the new one its digest.
CREATE TABLE company_move (
  company_id TEXT PRIMARY KEY REFERENCES company (id) ON DELETE CASCADE,
  state      TEXT NOT NULL CHECK (state IN ('moving', 'moved', 'removing', 'arriving', 'arrived')),
  at         BIGINT NOT NULL,
  code       TEXT NOT NULL
);
