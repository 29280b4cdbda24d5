-- A contest: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE settings (body TEXT NOT NULL);
CREATE TABLE teams (
  id TEXT PRIMARY KEY, seed INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, ha1 TEXT NOT NULL,
  strategy TEXT
);
CREATE TABLE rulings (
  pairing TEXT PRIMARY KEY, winner TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL
);
CREATE TABLE results (pairing TEXT PRIMARY KEY, place INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE pauses (since TEXT NOT NULL);

-- step: stages
CREATE TABLE progress (stage TEXT NOT NULL, ruled INTEGER NOT NULL);
INSERT INTO progress
  SELECT CASE WHEN EXISTS (SELECT 1 FROM results) THEN 'begun' ELSE 'open' END, 0;

-- step: practice
CREATE TABLE meetings (number INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE standings (played INTEGER PRIMARY KEY, body TEXT NOT NULL);

-- step: documents
CREATE TABLE documents (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID;
CREATE INDEX documents_by_end ON documents (expires);
CREATE TEMP VIEW named AS SELECT 'contest#' || json_extract(body, '$.name') AS own FROM settings;
INSERT INTO documents SELECT 'contests', json_extract(body, '$.name'), 1, json_object(
    'settings', json(body), 'stage', stage, 'ruled', ruled,
    'paused', json(iif(EXISTS (SELECT 1 FROM pauses), 'true', 'false')),
    'entered', (SELECT coalesce(max(seed), 0) FROM teams)
  ), NULL FROM settings, progress;
INSERT INTO documents SELECT own || '#team', id, 1, json_object(
    'id', id, 'name', name, 'ha1', ha1, 'strategy', strategy, 'seed', seed
  ), NULL FROM teams, named;
INSERT INTO documents SELECT own || '#ruling', pairing, 1, json_object(
    'pairing', pairing, 'winner', winner, 'reason', reason
  ), NULL FROM rulings, named;
INSERT INTO documents SELECT own || '#result', printf('%05d', place), 1, body, NULL
  FROM results, named;
INSERT INTO documents SELECT own || '#meeting', printf('%07d', number), 1, body, NULL
  FROM meetings, named;
INSERT INTO documents SELECT own || '#standing', printf('%07d', played), 1, body, NULL
  FROM standings, named;
DROP VIEW named;
DROP TABLE settings; DROP TABLE teams; DROP TABLE rulings; DROP TABLE results; DROP TABLE pauses;
DROP TABLE progress; DROP TABLE meetings; DROP TABLE standings;

-- step: lists
ALTER TABLE documents ADD COLUMN listed TEXT;
ALTER TABLE documents ADD COLUMN at INTEGER;
ALTER TABLE documents ADD COLUMN shown TEXT;
CREATE INDEX documents_by_list ON documents (listed, at);
