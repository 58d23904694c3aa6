-- Who did what, or tried to. Nothing is changed here; the oldest of very many entries are deleted.
CREATE TABLE audit (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	via TEXT NOT NULL,
	role TEXT NOT NULL,
	source TEXT NOT NULL, -- address that the request came from
	method TEXT NOT NULL,
	path TEXT NOT NULL,
	action TEXT NOT NULL,
	status INTEGER NOT NULL,
	request TEXT NOT NULL,
	change TEXT
) STRICT;
CREATE INDEX audit_actor ON audit (actor, id);
CREATE INDEX audit_action ON audit (action, id);
CREATE INDEX audit_refused ON audit (id) WHERE status IN (401, 403, 429);
-- Counts of lists read these, and not the executions, which are long.
CREATE INDEX executions_listed ON executions (created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
DROP INDEX executions_created;
DROP INDEX executions_state;
CREATE INDEX executions_in ON executions (state, created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
