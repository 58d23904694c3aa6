-- +goose Up

-- The specifications that a job has had. jobs.spec stays for programs of the version before: it is what the last one
-- says, as they read it.
CREATE TABLE job_revisions (
    job   integer     NOT NULL,
    epoch integer     NOT NULL,                            -- from 1
    at    timestamptz NOT NULL DEFAULT now(),
    spec  json        NOT NULL,                            -- a crawl.Job by the keys of a job file
    PRIMARY KEY (job, epoch)
);

ALTER TABLE jobs ADD COLUMN epoch integer NOT NULL DEFAULT 1;  -- of the revision that applies
ALTER TABLE jobs ADD COLUMN sweep json;                        -- crawl.Sweep; null: none was begun

INSERT INTO job_revisions (job, epoch, at, spec) SELECT number, 1, created, spec FROM jobs WHERE spec IS NOT NULL;

-- By which revision a URL was left out, or got its outcome, and by which rule. task is kept of excluded URLs, too, so
-- that a later revision can let them in.
ALTER TABLE urls ADD COLUMN epoch integer NOT NULL DEFAULT 1;
ALTER TABLE urls ADD COLUMN rule text;

ALTER TABLE attempts ADD COLUMN epoch integer NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE attempts DROP COLUMN epoch;
ALTER TABLE urls DROP COLUMN epoch, DROP COLUMN rule;
ALTER TABLE jobs DROP COLUMN epoch, DROP COLUMN sweep;
DROP TABLE job_revisions;
