-- Labels of executions, a row each, with what lists pick executions by: a list by label reads these rows alone.
-- Triggers keep them, so that whatever writes executions keeps them too.
CREATE TABLE labels (
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	execution TEXT NOT NULL REFERENCES executions ON DELETE CASCADE,
	workflow TEXT NOT NULL,
	state TEXT NOT NULL,
	PRIMARY KEY (key, value, created_at, execution)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_key ON labels (key, created_at, execution, workflow, state);
CREATE INDEX labels_of ON labels (execution);

CREATE TRIGGER executions_labelled AFTER INSERT ON executions BEGIN
	INSERT INTO labels (key, value, created_at, execution, workflow, state)
		SELECT key, value, new.created_at, new.id, new.workflow, new.state FROM json_each(new.labels) WHERE new.discard NOT LIKE 'all%';
END;
CREATE TRIGGER executions_relabelled AFTER UPDATE OF labels, discard, state ON executions
	WHEN new.labels <> old.labels OR new.discard <> old.discard OR new.state <> old.state BEGIN
	DELETE FROM labels WHERE execution = new.id;
	INSERT INTO labels (key, value, created_at, execution, workflow, state)
		SELECT key, value, new.created_at, new.id, new.workflow, new.state FROM json_each(new.labels) WHERE new.discard NOT LIKE 'all%';
END;
INSERT INTO labels (key, value, created_at, execution, workflow, state)
	SELECT j.key, j.value, x.created_at, x.id, x.workflow, x.state FROM executions x, json_each(x.labels) j WHERE x.discard NOT LIKE 'all%';

CREATE INDEX executions_of_in ON executions (workflow, state, created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
