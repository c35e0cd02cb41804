-- A company's calls are listed newest first: all of them, those of a number, and those that have not ended.
CREATE INDEX call_company ON call (company_id, id);
CREATE INDEX call_number ON call (number, id);
CREATE INDEX call_open ON call (company_id, id) WHERE q > 0;
