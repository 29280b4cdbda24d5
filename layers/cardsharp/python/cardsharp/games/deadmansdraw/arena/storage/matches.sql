-- The arena's matches: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE matches (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE moves (
  match_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (match_id, sequence)
) WITHOUT ROWID;
