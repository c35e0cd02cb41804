-- A row of events refers to its company by its topic's row, which is written first: asking for the company again took a sixth of the time
-- that storing events takes on PostgreSQL. SQLite would have to copy the table, for what costs it nothing.
{on_postgres}ALTER TABLE event DROP CONSTRAINT event_company_id_fkey;
