-- +goose Up

-- What is known of the hosts that topical jobs judge by their first pages: crawl.HostTrial. version grows with each
-- change.
CREATE TABLE trials (
    job     integer NOT NULL,
    host    text    COLLATE "C" NOT NULL,
    version bigint  NOT NULL,
    trial   bytea   NOT NULL,
    PRIMARY KEY (job, host)
);

-- +goose Down
DROP TABLE trials;
