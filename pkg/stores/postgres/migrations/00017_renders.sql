-- +goose Up

-- What hosts answered to requests that the scripts of pages need: a row a job and URL. It is there from the time on
-- when the URL is first wanted.
CREATE TABLE resources (
    job      integer     NOT NULL,
    host     bigint      NOT NULL,
    hash     uuid        NOT NULL,
    used     timestamptz NOT NULL,  -- when it was last stored, read or wanted
    wanted   timestamptz,           -- when claimant wanted it; null: nobody waits for it
    claimant bigint,
    expires  timestamptz,
    digest   bytea,                 -- of the body; null: it has none
    octets   integer     NOT NULL,  -- what the row is counted as
    resource bytea,                 -- crawl.Resource; null: it did not come yet
    PRIMARY KEY (job, host, hash)
);
CREATE INDEX resources_used ON resources (used);

-- Their bodies by SHA-256, compressed, each once. refs is how many resources have it.
CREATE TABLE resource_bodies (
    digest bytea   PRIMARY KEY,
    refs   bigint  NOT NULL,
    octets integer NOT NULL,
    body   bytea   NOT NULL
);
ALTER TABLE resource_bodies ALTER COLUMN body SET STORAGE EXTERNAL;

-- The octets of both, in parts that add up: writers do not wait for each other.
CREATE TABLE resource_octets (
    part   smallint PRIMARY KEY,
    octets bigint   NOT NULL
);

-- What is known of the renders of a template: crawl.RenderTemplate. version grows with each change.
CREATE TABLE renders (
    job      integer NOT NULL,
    host     text    COLLATE "C" NOT NULL,
    template bigint  NOT NULL,  -- with its highest bit turned, so that it sorts like the unsigned number
    version  bigint  NOT NULL,
    stats    bytea   NOT NULL,
    PRIMARY KEY (job, host, template)
);

-- +goose Down
DROP TABLE resources;
DROP TABLE resource_bodies;
DROP TABLE resource_octets;
DROP TABLE renders;
