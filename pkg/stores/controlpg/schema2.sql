-- Labels of executions, a row each, with what lists pick executions by: a list by label reads these rows alone.
-- A trigger keeps them, so that whatever writes executions keeps them too, programs of earlier versions among it.
CREATE TABLE labels (
	key TEXT COLLATE "C" NOT NULL,
	value TEXT COLLATE "C" NOT NULL,
	created_at BIGINT NOT NULL,
	execution TEXT COLLATE "C" NOT NULL REFERENCES executions ON DELETE CASCADE,
	workflow TEXT COLLATE "C" NOT NULL,
	state TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (key, value, created_at, execution) INCLUDE (workflow, state)
);
CREATE INDEX labels_key ON labels (key, created_at, execution) INCLUDE (workflow, state);
CREATE INDEX labels_of ON labels (execution);

CREATE FUNCTION note_labels() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	IF TG_OP = 'UPDATE' THEN
		DELETE FROM labels WHERE execution = new.id;
	END IF;
	INSERT INTO labels (key, value, created_at, execution, workflow, state)
		SELECT j.key, j.value, new.created_at, new.id, new.workflow, new.state FROM jsonb_each_text(new.labels::jsonb) j WHERE new.discard NOT LIKE 'all%';
	RETURN NULL;
END
$$;
CREATE TRIGGER executions_labelled AFTER INSERT ON executions FOR EACH ROW EXECUTE FUNCTION note_labels();
CREATE TRIGGER executions_relabelled AFTER UPDATE OF labels, discard, state ON executions FOR EACH ROW
	WHEN (new.labels <> old.labels OR new.discard <> old.discard OR new.state <> old.state) EXECUTE FUNCTION note_labels();
INSERT INTO labels (key, value, created_at, execution, workflow, state)
	SELECT j.key, j.value, x.created_at, x.id, x.workflow, x.state FROM executions x, jsonb_each_text(x.labels::jsonb) j WHERE x.discard NOT LIKE 'all%';

CREATE INDEX executions_of_in ON executions (workflow, state, created_at DESC, id DESC) WHERE discard NOT LIKE 'all%';
