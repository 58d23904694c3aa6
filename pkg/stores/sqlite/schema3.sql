-- Alerts that are not ok, and what is sent of alerts. Rules and channels are in settings.
CREATE TABLE alerts (
	rule TEXT NOT NULL,
	subject TEXT NOT NULL,
	state TEXT NOT NULL,
	severity TEXT NOT NULL,
	text TEXT NOT NULL,
	value REAL NOT NULL,
	workflow TEXT NOT NULL,
	execution TEXT NOT NULL,
	since_at INTEGER NOT NULL,
	fired_at INTEGER,
	told_at INTEGER,
	lock INTEGER NOT NULL,
	PRIMARY KEY (rule, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
	id TEXT PRIMARY KEY,
	channel TEXT NOT NULL,
	rule TEXT NOT NULL,
	subject TEXT NOT NULL,
	type TEXT NOT NULL,
	title TEXT NOT NULL,
	text TEXT NOT NULL,
	data TEXT,
	state TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	next_at INTEGER,
	tries_left INTEGER NOT NULL,
	tries TEXT NOT NULL,
	lock INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_created ON deliveries (created_at DESC, id DESC);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'due';
