-- The account that invited: an invitation is good only while that account may give its role. Empty: made before this was kept.
ALTER TABLE invitation ADD COLUMN inviter_id TEXT NOT NULL DEFAULT '';
