-- Schedules and their slots. next is the label of the planned slot.
CREATE TABLE schedules (
	id TEXT PRIMARY KEY,
	workflow TEXT NOT NULL REFERENCES workflows,
	name TEXT NOT NULL,
	rule TEXT NOT NULL,
	words TEXT NOT NULL,
	reason TEXT NOT NULL,
	paused_at INTEGER,
	created_at INTEGER NOT NULL,
	mark_at INTEGER,
	lock INTEGER NOT NULL,
	UNIQUE (workflow, name)
) STRICT;
CREATE INDEX schedules_created ON schedules (created_at DESC, id DESC);

CREATE TABLE slots (
	schedule TEXT NOT NULL REFERENCES schedules ON DELETE CASCADE,
	label TEXT NOT NULL,
	at INTEGER NOT NULL,
	due INTEGER NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	execution TEXT,
	decided_at INTEGER,
	PRIMARY KEY (schedule, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX slots_open ON slots (due) WHERE state IN ('planned', 'waiting');
CREATE INDEX slots_at ON slots (schedule, at DESC, label DESC);
CREATE UNIQUE INDEX slots_planned ON slots (schedule) WHERE state = 'planned';
