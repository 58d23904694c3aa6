-- +goose Up

-- The words of pages, of jobs with "search": textsearch.Vector with the word '/N', where N is the job. text is nothing
-- that is kept: headlines are cut from the records.
CREATE TABLE page_text (
    job   integer     NOT NULL,
    host  bigint      NOT NULL,
    hash  uuid        NOT NULL,
    visit integer     NOT NULL,
    at    timestamptz NOT NULL,                            -- when the page was fetched
    lang  text        COLLATE "C",
    words tsvector    NOT NULL,
    PRIMARY KEY (job, host, hash)
);
CREATE INDEX page_text_words ON page_text USING gin (words);

-- Lines are written about in the order of their times: a few octets each hundred blocks find those of a time.
CREATE INDEX attempts_at ON attempts USING brin (at) WITH (pages_per_range = 32);

-- +goose Down
DROP INDEX attempts_at;
DROP TABLE page_text;
