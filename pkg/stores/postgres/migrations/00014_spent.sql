-- +goose Up

-- What a job has spent of max_bytes and max_time, by all nodes. Its time is counted until a moment: several nodes count
-- it once.
CREATE TABLE spent (
    job     integer     PRIMARY KEY,
    bytes   bigint      NOT NULL,
    took    bigint      NOT NULL,  -- microseconds
    counted timestamptz NOT NULL
);

-- +goose Down
DROP TABLE spent;
