-- +goose Up

-- The number of the visit that an outcome is of.
ALTER TABLE urls ADD COLUMN visit integer NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN visit integer NOT NULL DEFAULT 0;

-- What is remembered of the pages of continuous jobs between their visits: revisit.State. bucket is that of the time at
-- which the page is due (revisit.Bucket); null: its visit is queued or made now, or it is gone.
CREATE TABLE revisits (
    job    integer NOT NULL,
    visits integer NOT NULL,                               -- as in state: a state of fewer visits changes nothing
    host   bigint  NOT NULL,
    bucket bigint,
    hash   uuid    NOT NULL,
    state  bytea   NOT NULL,
    url    text    NOT NULL,
    PRIMARY KEY (job, host, hash)
) PARTITION BY HASH (job, host);

-- +goose StatementBegin
DO $$ BEGIN
    FOR i IN 0..15 LOOP
        EXECUTE format('CREATE TABLE revisits_%s PARTITION OF revisits FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 85)',
            to_char(i, 'FM00'), i);
    END LOOP;
END $$;
-- +goose StatementEnd

CREATE INDEX revisits_due ON revisits (job, bucket, host, hash) WHERE bucket IS NOT NULL;
CREATE INDEX revisits_taken ON revisits (job) WHERE bucket IS NULL;

-- +goose Down
DROP TABLE revisits;
ALTER TABLE attempts DROP COLUMN visit;
ALTER TABLE urls DROP COLUMN visit;
