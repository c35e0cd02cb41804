-- The sites whose pages loaded a widget, by origin: the latest of them. An empty origin is an app, or a page without an origin. kind is
-- that of the resource.
CREATE TABLE widget_site (
  company_id TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind = 'widget'),
  widget_id  TEXT NOT NULL,
  origin     TEXT NOT NULL,
  seen_at    BIGINT NOT NULL,
  PRIMARY KEY (company_id, widget_id, origin),
  FOREIGN KEY (company_id, kind, widget_id) REFERENCES resource (company_id, kind, id) ON DELETE CASCADE
){without_rowid};
CREATE INDEX widget_site_seen ON widget_site (company_id, seen_at);

-- Logos for widgets: PNG pictures by the digest of their bytes.
CREATE TABLE widget_logo (
  company_id TEXT NOT NULL REFERENCES company (id) ON DELETE CASCADE,
  digest     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  bytes      {bytes} NOT NULL,
  PRIMARY KEY (company_id, digest)
);
