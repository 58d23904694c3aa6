-- What pkg/stores/sqlite has in schema1.sql to schema4.sql, for PostgreSQL: times are microseconds since 1970, UTC;
-- NULL: none. JSON is text. Texts are compared by their octets, as SQLite does, so that lists have one order.
CREATE TABLE workflows (
	id TEXT COLLATE "C" PRIMARY KEY,
	slug TEXT COLLATE "C" NOT NULL UNIQUE,
	name TEXT COLLATE "C" NOT NULL,
	labels TEXT COLLATE "C" NOT NULL,
	current BIGINT NOT NULL,
	executions BIGINT NOT NULL DEFAULT 0,
	archived_at BIGINT,
	created_at BIGINT NOT NULL,
	lock BIGINT NOT NULL
);
CREATE INDEX workflows_created ON workflows (created_at DESC, id DESC);

CREATE TABLE versions (
	workflow TEXT COLLATE "C" NOT NULL REFERENCES workflows,
	number BIGINT NOT NULL,
	source TEXT COLLATE "C" NOT NULL,
	definition TEXT COLLATE "C" NOT NULL,
	sha256 TEXT COLLATE "C" NOT NULL,
	author TEXT COLLATE "C" NOT NULL,
	message TEXT COLLATE "C" NOT NULL,
	parent BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (workflow, number)
);

CREATE TABLE executions (
	id TEXT COLLATE "C" PRIMARY KEY,
	workflow TEXT COLLATE "C" NOT NULL REFERENCES workflows,
	slug TEXT COLLATE "C" NOT NULL,
	version BIGINT NOT NULL,
	number BIGINT NOT NULL,
	state TEXT COLLATE "C" NOT NULL,
	desired TEXT COLLATE "C" NOT NULL,
	braked_by TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	cause TEXT COLLATE "C" NOT NULL,
	once TEXT COLLATE "C" UNIQUE,
	attempt BIGINT NOT NULL,
	epoch BIGINT NOT NULL,
	labels TEXT COLLATE "C" NOT NULL,
	note TEXT COLLATE "C" NOT NULL,
	outcome TEXT COLLATE "C" NOT NULL,
	discard TEXT COLLATE "C" NOT NULL,
	marks TEXT COLLATE "C" NOT NULL,
	stats TEXT COLLATE "C",
	audit TEXT COLLATE "C",
	created_at BIGINT NOT NULL,
	started_at BIGINT,
	ended_at BIGINT,
	trimmed_at BIGINT,
	folded BIGINT NOT NULL DEFAULT 0, -- events that are counted only
	seq BIGINT NOT NULL DEFAULT 0,    -- of the last event
	lock BIGINT NOT NULL,
	FOREIGN KEY (workflow, version) REFERENCES versions
);
CREATE UNIQUE INDEX executions_number ON executions (workflow, number DESC);
CREATE INDEX executions_of ON executions (workflow, created_at DESC, id DESC);
CREATE INDEX executions_unsettled ON executions (created_at, id) WHERE ended_at IS NULL OR discard <> '';

-- What an execution began with: long, so that lists do not read it.
CREATE TABLE jobs (
	execution TEXT COLLATE "C" PRIMARY KEY REFERENCES executions ON DELETE CASCADE,
	job TEXT COLLATE "C" NOT NULL
);

CREATE TABLE steps (
	execution TEXT COLLATE "C" NOT NULL REFERENCES executions ON DELETE CASCADE,
	attempt BIGINT NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	place BIGINT NOT NULL, -- order in which they began
	state TEXT COLLATE "C" NOT NULL,
	result TEXT COLLATE "C",
	at BIGINT NOT NULL,
	PRIMARY KEY (execution, attempt, name)
);

-- Events of a deleted execution go with it, but for the one that tells of the deletion. Ids are never given again.
CREATE TABLE events (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	execution TEXT COLLATE "C",
	workflow TEXT COLLATE "C",
	seq BIGINT,
	at BIGINT NOT NULL,
	type TEXT COLLATE "C" NOT NULL,
	actor TEXT COLLATE "C" NOT NULL,
	data TEXT COLLATE "C",
	UNIQUE (execution, seq)
);
CREATE INDEX events_execution ON events (execution, id) WHERE execution IS NOT NULL;
CREATE INDEX events_workflow ON events (workflow, id) WHERE workflow IS NOT NULL;
CREATE INDEX events_type ON events (type, id);

CREATE TABLE folded (
	execution TEXT COLLATE "C" NOT NULL REFERENCES executions ON DELETE CASCADE,
	type TEXT COLLATE "C" NOT NULL,
	count BIGINT NOT NULL,
	PRIMARY KEY (execution, type)
);

CREATE TABLE settings (
	section TEXT COLLATE "C" NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	value BYTEA NOT NULL,
	PRIMARY KEY (section, key)
);
CREATE TABLE schedules (
	id TEXT COLLATE "C" PRIMARY KEY,
	workflow TEXT COLLATE "C" NOT NULL REFERENCES workflows,
	name TEXT COLLATE "C" NOT NULL,
	rule TEXT COLLATE "C" NOT NULL,
	words TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	paused_at BIGINT,
	created_at BIGINT NOT NULL,
	mark_at BIGINT,
	lock BIGINT NOT NULL,
	UNIQUE (workflow, name)
);
CREATE INDEX schedules_created ON schedules (created_at DESC, id DESC);

CREATE TABLE slots (
	schedule TEXT COLLATE "C" NOT NULL REFERENCES schedules ON DELETE CASCADE,
	label TEXT COLLATE "C" NOT NULL,
	at BIGINT NOT NULL,
	due BIGINT NOT NULL,
	state TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	execution TEXT COLLATE "C",
	decided_at BIGINT,
	PRIMARY KEY (schedule, label)
);
CREATE INDEX slots_open ON slots (due) WHERE state IN ('planned', 'waiting');
CREATE INDEX slots_at ON slots (schedule, at DESC, label DESC);
CREATE UNIQUE INDEX slots_planned ON slots (schedule) WHERE state = 'planned';
CREATE TABLE alerts (
	rule TEXT COLLATE "C" NOT NULL,
	subject TEXT COLLATE "C" NOT NULL,
	state TEXT COLLATE "C" NOT NULL,
	severity TEXT COLLATE "C" NOT NULL,
	text TEXT COLLATE "C" NOT NULL,
	value DOUBLE PRECISION NOT NULL,
	workflow TEXT COLLATE "C" NOT NULL,
	execution TEXT COLLATE "C" NOT NULL,
	since_at BIGINT NOT NULL,
	fired_at BIGINT,
	told_at BIGINT,
	lock BIGINT NOT NULL,
	PRIMARY KEY (rule, subject)
);

CREATE TABLE deliveries (
	id TEXT COLLATE "C" PRIMARY KEY,
	channel TEXT COLLATE "C" NOT NULL,
	rule TEXT COLLATE "C" NOT NULL,
	subject TEXT COLLATE "C" NOT NULL,
	type TEXT COLLATE "C" NOT NULL,
	title TEXT COLLATE "C" NOT NULL,
	text TEXT COLLATE "C" NOT NULL,
	data TEXT COLLATE "C",
	state TEXT COLLATE "C" NOT NULL,
	created_at BIGINT NOT NULL,
	next_at BIGINT,
	tries_left BIGINT NOT NULL,
	tries TEXT COLLATE "C" NOT NULL,
	lock BIGINT NOT NULL
);
CREATE INDEX deliveries_created ON deliveries (created_at DESC, id DESC);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'due';
-- Who did what, or tried to. Nothing is changed here; the oldest of very many entries are deleted.
CREATE TABLE audit (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at BIGINT NOT NULL,
	actor TEXT COLLATE "C" NOT NULL,
	via TEXT COLLATE "C" NOT NULL,
	role TEXT COLLATE "C" NOT NULL,
	source TEXT COLLATE "C" NOT NULL, -- address that the request came from
	method TEXT COLLATE "C" NOT NULL,
	path TEXT COLLATE "C" NOT NULL,
	action TEXT COLLATE "C" NOT NULL,
	status BIGINT NOT NULL,
	request TEXT COLLATE "C" NOT NULL,
	change TEXT COLLATE "C"
);
CREATE INDEX audit_actor ON audit (actor, id);
CREATE INDEX audit_action ON audit (action, id);
CREATE INDEX audit_refused ON audit (id) WHERE status IN (401, 403, 429);
-- Counts of lists read these, and not the executions, which are long.
CREATE INDEX executions_listed ON executions (created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
CREATE INDEX executions_in ON executions (state, created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
