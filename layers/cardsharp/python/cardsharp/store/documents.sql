-- Documents: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE documents (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID;

-- step
CREATE INDEX documents_by_end ON documents (expires);

-- step: lists
ALTER TABLE documents ADD COLUMN listed TEXT;
ALTER TABLE documents ADD COLUMN at INTEGER;
ALTER TABLE documents ADD COLUMN shown TEXT;
CREATE INDEX documents_by_list ON documents (listed, at);
