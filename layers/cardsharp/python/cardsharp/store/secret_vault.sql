-- The vault: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE secrets (id TEXT PRIMARY KEY, body TEXT NOT NULL, expires_at INTEGER NOT NULL);

-- step: documents. The empty table stays: by it version 0.2 knows that a newer one made the file
CREATE TABLE documents (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID;
INSERT INTO documents SELECT 'vault#' || id, 'secret', 1, body, expires_at FROM secrets;
DELETE FROM secrets;
CREATE INDEX documents_by_end ON documents (expires);

-- step: lists
ALTER TABLE documents ADD COLUMN listed TEXT;
ALTER TABLE documents ADD COLUMN at INTEGER;
ALTER TABLE documents ADD COLUMN shown TEXT;
CREATE INDEX documents_by_list ON documents (listed, at);
