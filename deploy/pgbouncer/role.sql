-- Settings that Carillon asks for when it connects. PgBouncer can't pass them on, so they are set for the role in the
-- database: sudo -u postgres psql -d carillon -f role.sql
ALTER ROLE carillon IN DATABASE carillon SET lock_timeout = '3s';
ALTER ROLE carillon IN DATABASE carillon SET idle_in_transaction_session_timeout = '700ms';
ALTER ROLE carillon IN DATABASE carillon SET synchronous_commit = 'on';
ALTER ROLE carillon IN DATABASE carillon SET tcp_user_timeout = '5s';
ALTER ROLE carillon IN DATABASE carillon SET enable_seqscan = off;
ALTER ROLE carillon IN DATABASE carillon SET enable_bitmapscan = off;
ALTER ROLE carillon IN DATABASE carillon SET enable_hashjoin = off;
ALTER ROLE carillon IN DATABASE carillon SET enable_mergejoin = off;
ALTER ROLE carillon IN DATABASE carillon SET random_page_cost = 1.1;
ALTER ROLE carillon IN DATABASE carillon SET jit = off;
ALTER ROLE carillon IN DATABASE carillon SET plan_cache_mode = 'force_generic_plan';
