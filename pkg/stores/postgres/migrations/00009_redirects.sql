-- +goose Up

-- Where URLs redirect to, so that a chain which leads back to where it began is found.
CREATE TABLE redirects (
    job    integer NOT NULL,
    host   bigint  NOT NULL,
    hash   uuid    NOT NULL,
    target text    NOT NULL,
    PRIMARY KEY (job, host, hash)
);

-- +goose Down
DROP TABLE redirects;
