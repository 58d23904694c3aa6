-- +goose Up

-- A job has a number the first time a program hears of it; its specification comes from whoever submits it.
CREATE TABLE jobs (
    number  integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      text        COLLATE "C" NOT NULL UNIQUE,
    spec    json,                                          -- a crawl.Job; null: not submitted yet
    state   text        NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'stopped', 'ended')),
    created timestamptz NOT NULL DEFAULT now(),
    ended   timestamptz                                    -- when it was stopped or ended
);

-- One row a URL and job: URL set and ledger. A weburl.Key is (host, hash): its first 8 bytes, less 2^63 so that the
-- order of signed numbers is that of the bytes, and its last 16. URLs of one host are neighbours in one partition.
CREATE TABLE urls (
    job      integer     NOT NULL,
    status   integer     NOT NULL DEFAULT 0,               -- HTTP status of the outcome
    host     bigint      NOT NULL,
    claimant bigint,                                       -- first half of the id of the message that claimed or excluded it
    changed  timestamptz NOT NULL,                         -- time of the last change of state
    attempts integer     NOT NULL DEFAULT 0,
    state    smallint    NOT NULL,                         -- 1 open, 2 done, 3 excluded
    was      smallint    NOT NULL DEFAULT 0,               -- the state before the last change; 0: none
    verdict  smallint    NOT NULL DEFAULT 0,               -- of the outcome; as they stand when state is done, else left from before
    kind     smallint    NOT NULL DEFAULT 0,               -- 0 page, 1 robots, 2 sitemap
    hash     uuid        NOT NULL,
    url      text,                                         -- null: it got an outcome and was never claimed
    task     bytea,                                        -- the crawl.Task to queue again, less job and URL
    reason   text,                                         -- of the outcome
    left_out text,                                         -- why it was excluded, also when it was claimed later
    PRIMARY KEY (job, host, hash)
) PARTITION BY HASH (job, host);

-- A row changes once or twice after its insert, and never in a column that is indexed. The room left in each page lets
-- the new version stay there (HOT); pruning makes room for the next.
-- +goose StatementBegin
DO $$ BEGIN
    FOR i IN 0..15 LOOP
        EXECUTE format('CREATE TABLE urls_%s PARTITION OF urls FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 85)',
            to_char(i, 'FM00'), i);
    END LOOP;
END $$;
-- +goose StatementEnd

-- What crawl.Tally adds up. Each statement counts in the shard of its session, so that batches do not wait for each
-- other.
CREATE TABLE tallies (
    job     integer  NOT NULL,
    shard   smallint NOT NULL,
    counter text     COLLATE "C" NOT NULL,                 -- claimed, page, verdict, status, excluded
    arg     text     COLLATE "C" NOT NULL,                 -- number of the verdict, HTTP status, reason
    n       bigint   NOT NULL,
    PRIMARY KEY (job, shard, counter, arg)
) WITH (fillfactor = 25);

-- What was spent, and handed out to be spent, of an allowance.
CREATE TABLE budgets (
    job   integer NOT NULL,
    key   text    COLLATE "C" NOT NULL,
    spent bigint  NOT NULL,
    lease bigint  NOT NULL,                                -- how much was handed out last
    PRIMARY KEY (job, key)
) WITH (fillfactor = 70);

-- One row a page, original or copy: what was dropped keeps its metadata. Not partitioned: a digest has one original in
-- a job, which only one index over all pages can promise.
CREATE TABLE fingerprints (
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    job        integer     NOT NULL,
    page_type  smallint    NOT NULL,                       -- 0 original, 1 exact copy, 2 near copy
    distance   smallint    NOT NULL,                       -- Hamming distance from the original
    same_links boolean     NOT NULL,                       -- an exact copy whose links are the original's
    simhash    bigint      NOT NULL,
    link_sum   bigint      NOT NULL,
    claimed    timestamptz NOT NULL DEFAULT now(),
    page_id    bytea       NOT NULL,                       -- weburl.Key: the content's _id in the page store
    content_id bytea       NOT NULL,                       -- page_id of the original: where the content is
    page_fp    bytea       NOT NULL,                       -- SHA-256
    fp_alg     text        NOT NULL,                       -- sha256, or sha256+simhash64 where the text was long enough
    domain     text        NOT NULL,                       -- registrable domain
    url        text        NOT NULL,
    sketch     bytea,                                      -- null: no near-duplicate test
    PRIMARY KEY (job, page_id)
) WITH (fillfactor = 95);

CREATE UNIQUE INDEX fingerprints_original ON fingerprints (job, page_fp) WHERE page_type = 0;
-- Simhashes that differ in d bits at most have a half in which they differ in d/2 at most: both halves are looked up.
CREATE INDEX fingerprints_upper ON fingerprints (job, ((simhash >> 32)::integer))
    WHERE page_type = 0 AND sketch IS NOT NULL;
CREATE INDEX fingerprints_lower ON fingerprints (job, (((simhash << 32) >> 32)::integer))
    WHERE page_type = 0 AND sketch IS NOT NULL;

-- Host records, as the programs encode them (crawl.EncodeValue): new fields need no migration.
CREATE TABLE hosts (
    key     text        COLLATE "C" PRIMARY KEY,
    record  bytea       NOT NULL,
    changed timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

CREATE TABLE robots (
    origin  text        COLLATE "C" PRIMARY KEY,
    state   smallint    NOT NULL,                          -- 0 rules, 1 allow all, 2 disallow all
    status  integer     NOT NULL,
    fetched timestamptz NOT NULL,
    expires timestamptz NOT NULL,
    body    bytea
) WITH (fillfactor = 90);

-- crawl.log. One partition a job, made when the job gets its number: a job's lines go by dropping its table.
CREATE TABLE attempts (
    job          integer     NOT NULL,
    status       integer     NOT NULL,
    host         bigint      NOT NULL,
    at           timestamptz NOT NULL,
    bytes        bigint      NOT NULL,
    duration_us  bigint      NOT NULL,
    ttfb_us      bigint      NOT NULL,
    attempt      integer     NOT NULL,
    depth        integer     NOT NULL,
    kind         smallint    NOT NULL,
    verdict      smallint    NOT NULL,
    hash         uuid        NOT NULL,
    url          text        NOT NULL,
    reason       text,
    detail       text,
    content_type text,
    digest       bytea,
    addr         text,
    referrer     text,
    location     text
) PARTITION BY LIST (job);

CREATE INDEX attempts_url ON attempts (host, hash, at);

-- +goose Down
DROP TABLE attempts, robots, hosts, fingerprints, budgets, tallies, urls, jobs;
