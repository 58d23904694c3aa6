-- +goose Up

-- Pages all of whose links have been claimed, on a node of its own: some a row, for nobody looks for one of them. Where
-- nothing goes on, and a page that was fetched is in none of these rows, its content or its links were lost.
CREATE TABLE followed (
    job    integer     NOT NULL,
    noted  timestamptz NOT NULL DEFAULT now(),
    hosts  bigint[]    NOT NULL,
    hashes uuid[]      NOT NULL
);
CREATE INDEX followed_job ON followed (job);

-- Up to when the pages of a job that were fetched are not looked for there: it was crawled by another build, or on a
-- ring, which has a table of its own.
CREATE TABLE followed_since (
    job   integer     PRIMARY KEY,
    since timestamptz NOT NULL
);
INSERT INTO followed_since (job, since) SELECT number, now() FROM jobs;

-- +goose Down
DROP TABLE followed, followed_since;
