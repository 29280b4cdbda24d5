-- The deals of Euchre: each step makes the schema from that of the one before, and is never changed.

-- step
CREATE TABLE deals (
  token TEXT NOT NULL,
  game INTEGER NOT NULL,
  deal INTEGER NOT NULL,
  cards TEXT NOT NULL,
  events TEXT NOT NULL DEFAULT '',
  version INTEGER NOT NULL DEFAULT 0,
  born TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (token, game, deal)
) WITHOUT ROWID;
CREATE INDEX deals_by_expiry ON deals (expires);

-- step: documents. The empty table stays: by it version 0.2 knows that a newer one made the file
CREATE TABLE documents (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID;
INSERT INTO documents SELECT 'token#' || token, printf('deal#%010d#%010d', game, deal), 1,
  json_object('cards', cards, 'events', events), expires FROM deals;
DELETE FROM deals;
CREATE INDEX documents_by_end ON documents (expires);

-- step: lists
ALTER TABLE documents ADD COLUMN listed TEXT;
ALTER TABLE documents ADD COLUMN at INTEGER;
ALTER TABLE documents ADD COLUMN shown TEXT;
CREATE INDEX documents_by_list ON documents (listed, at);
