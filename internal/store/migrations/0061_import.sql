-- What the channel reports about a template besides its parts, as JSON ('': nothing), and whether the template was made at the channel.
ALTER TABLE template ADD COLUMN report TEXT NOT NULL DEFAULT '';
ALTER TABLE template ADD COLUMN imported BOOLEAN NOT NULL DEFAULT FALSE;

-- imported, gone and unsupported: templates of the last comparison that are new, have vanished at the channel, or have parts that
-- cannot be sent. due_at: when the next comparison starts (0: never by itself).
ALTER TABLE template_sync ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template_sync ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template_sync ADD COLUMN unsupported INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template_sync ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX template_sync_due ON template_sync (due_at) WHERE due_at > 0;
UPDATE template_sync SET due_at = 1;
INSERT INTO template_sync (sender, at, found, changed, missing, error, due_at)
  SELECT uid, 0, 0, 0, 0, '', 1 FROM sender WHERE channel = 'messaging' AND NOT removed ON CONFLICT (sender) DO NOTHING;
