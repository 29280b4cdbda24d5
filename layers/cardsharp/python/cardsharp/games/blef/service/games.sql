-- The games of Blef: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE games (
  uuid TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  nicknames TEXT NOT NULL,
  started INTEGER NOT NULL,
  public INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX games_by_change ON games (public, changed);
CREATE INDEX games_by_expiry ON games (expires);
CREATE TABLE rounds (
  uuid TEXT NOT NULL,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (uuid, number)
) WITHOUT ROWID;
CREATE INDEX rounds_by_expiry ON rounds (expires);

-- step
CREATE TABLE callers (
  name TEXT PRIMARY KEY,
  games INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID;

-- step: documents. Of the buckets of `census` all are of the first share, negative ones of another
-- make the same sum. The empty tables stay: by them version 0.2 knows that a newer one made the file
CREATE TABLE documents (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID;
ALTER TABLE documents ADD COLUMN listed TEXT;
ALTER TABLE documents ADD COLUMN at INTEGER;
ALTER TABLE documents ADD COLUMN shown TEXT;
CREATE INDEX documents_by_list ON documents (listed, at);
INSERT INTO documents
  SELECT 'game#' || uuid, 'game', version, json_object(
      'changed', changed, 'game', json(iif(json_valid(body), body, 'null'))
    ), expires, iif(public, 'public', NULL), changed, json_object(
      'nicknames_json', nicknames, 'is_started', json(iif(started, 'true', 'false'))
    ) FROM games;
INSERT INTO documents (partition, sort, version, body, expires)
  SELECT 'game#' || uuid, printf('round#%05d', number), 1, body, expires FROM rounds;
INSERT INTO documents (partition, sort, version, body, expires)
  SELECT 'caller#' || name, 'games', 1, json_object('count', games), expires FROM callers;
CREATE INDEX documents_by_end ON documents (expires);
INSERT INTO documents (partition, sort, version, body, expires)
  SELECT 'census#changed#' || strftime('%Y-%m-%dT%H', changed / 1000000, 'unixepoch'),
    strftime('at#%H:%M#0', changed / 1000000, 'unixepoch'), 1, json_object('count', count(*)),
    (changed / 60000000 + 1) * 60000000 + 2 * 86400000000 FROM games GROUP BY 1, 2;
INSERT INTO documents (partition, sort, version, body, expires)
  SELECT 'census#expiring', strftime('on#%Y-%m-%dT%H#0', expires / 1000000, 'unixepoch'), 1,
    json_object('count', count(*)),
    (expires / 3600000000 + 1) * 3600000000 + 2 * 86400000000
  FROM games WHERE expires - changed <= 3600000000 GROUP BY 2;
INSERT INTO documents (partition, sort, version, body, expires)
  SELECT 'census#expiring', strftime('on#%Y-%m-%d#0', expires / 1000000, 'unixepoch'), 1,
    json_object('count', count(*)),
    (expires / 86400000000 + 1) * 86400000000 + 2 * 86400000000
  FROM games WHERE expires - changed > 3600000000 GROUP BY 2;
DELETE FROM games;
DELETE FROM rounds;
DELETE FROM callers;
