-- When the mailbox of an account, or a server for single sign-on, answered for it; 0: not since somebody else may know its password. Nothing
-- says that of accounts that are older than this.
ALTER TABLE account ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0;

-- When a link for a password left by e-mail; 0: it did not, and was shown to who made it.
ALTER TABLE password_reset ADD COLUMN sent_at BIGINT NOT NULL DEFAULT 0;
