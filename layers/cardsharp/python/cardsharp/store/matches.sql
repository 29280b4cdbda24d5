-- The match log: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE matches (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  started INTEGER NOT NULL,
  header TEXT NOT NULL DEFAULT '{}',
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER,
  announced_until INTEGER,
  outcome TEXT,
  finished INTEGER
);
CREATE INDEX matches_by_start ON matches (started);
CREATE INDEX matches_by_status ON matches (status, started);
CREATE TABLE moves (
  match_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  intent TEXT,
  facts TEXT,
  PRIMARY KEY (match_id, sequence)
) WITHOUT ROWID;
CREATE TABLE notes (
  match_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX notes_by_match ON notes (match_id, at);

-- step: intents and facts are packed: the tables stay, but an older version could not read them

-- step: durations in microseconds. `announced` is how long nobody had held the match by then
ALTER TABLE matches ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE matches ADD COLUMN ttl INTEGER;
ALTER TABLE matches ADD COLUMN announced INTEGER;
UPDATE matches SET ttl = 3000000 WHERE owner IS NOT NULL;
ALTER TABLE matches DROP COLUMN lease_until;
ALTER TABLE matches DROP COLUMN announced_until;
