-- Times are microseconds since 1970, UTC; NULL: none. JSON is text.
CREATE TABLE workflows (
	id TEXT PRIMARY KEY,
	slug TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	labels TEXT NOT NULL,
	current INTEGER NOT NULL,
	executions INTEGER NOT NULL DEFAULT 0,
	archived_at INTEGER,
	created_at INTEGER NOT NULL,
	lock INTEGER NOT NULL
) STRICT;
CREATE INDEX workflows_created ON workflows (created_at DESC, id DESC);

CREATE TABLE versions (
	workflow TEXT NOT NULL REFERENCES workflows,
	number INTEGER NOT NULL,
	source TEXT NOT NULL,
	definition TEXT NOT NULL,
	sha256 TEXT NOT NULL,
	author TEXT NOT NULL,
	message TEXT NOT NULL,
	parent INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (workflow, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
	id TEXT PRIMARY KEY,
	workflow TEXT NOT NULL REFERENCES workflows,
	slug TEXT NOT NULL,
	version INTEGER NOT NULL,
	number INTEGER NOT NULL,
	state TEXT NOT NULL,
	desired TEXT NOT NULL,
	braked_by TEXT NOT NULL,
	reason TEXT NOT NULL,
	cause TEXT NOT NULL,
	once TEXT UNIQUE,
	attempt INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	labels TEXT NOT NULL,
	note TEXT NOT NULL,
	outcome TEXT NOT NULL,
	discard TEXT NOT NULL,
	marks TEXT NOT NULL,
	stats TEXT,
	audit TEXT,
	created_at INTEGER NOT NULL,
	started_at INTEGER,
	ended_at INTEGER,
	trimmed_at INTEGER,
	folded INTEGER NOT NULL DEFAULT 0, -- events that are counted only
	seq INTEGER NOT NULL DEFAULT 0,    -- of the last event
	lock INTEGER NOT NULL,
	FOREIGN KEY (workflow, version) REFERENCES versions
) STRICT;
CREATE UNIQUE INDEX executions_number ON executions (workflow, number DESC);
CREATE INDEX executions_created ON executions (created_at DESC, id DESC);
CREATE INDEX executions_of ON executions (workflow, created_at DESC, id DESC);
CREATE INDEX executions_state ON executions (state, created_at DESC, id DESC);
CREATE INDEX executions_unsettled ON executions (created_at, id) WHERE ended_at IS NULL OR discard <> '';

-- What an execution began with: long, so that lists do not read it.
CREATE TABLE jobs (
	execution TEXT PRIMARY KEY REFERENCES executions ON DELETE CASCADE,
	job TEXT NOT NULL
) STRICT;

CREATE TABLE steps (
	execution TEXT NOT NULL REFERENCES executions ON DELETE CASCADE,
	attempt INTEGER NOT NULL,
	name TEXT NOT NULL,
	place INTEGER NOT NULL, -- order in which they began
	state TEXT NOT NULL,
	result TEXT,
	at INTEGER NOT NULL,
	PRIMARY KEY (execution, attempt, name)
) STRICT, WITHOUT ROWID;

-- Events of a deleted execution go with it, but for the one that tells of the deletion. Ids are never given again.
CREATE TABLE events (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	execution TEXT,
	workflow TEXT,
	seq INTEGER,
	at INTEGER NOT NULL,
	type TEXT NOT NULL,
	actor TEXT NOT NULL,
	data TEXT,
	UNIQUE (execution, seq)
) STRICT;
CREATE INDEX events_execution ON events (execution, id) WHERE execution IS NOT NULL;
CREATE INDEX events_workflow ON events (workflow, id) WHERE workflow IS NOT NULL;
CREATE INDEX events_type ON events (type, id);

CREATE TABLE folded (
	execution TEXT NOT NULL REFERENCES executions ON DELETE CASCADE,
	type TEXT NOT NULL,
	count INTEGER NOT NULL,
	PRIMARY KEY (execution, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
	section TEXT NOT NULL,
	key TEXT NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (section, key)
) STRICT, WITHOUT ROWID;
