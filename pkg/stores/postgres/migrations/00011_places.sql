-- +goose Up

-- Pages that were taken back and keep their places in the page budget until they have an outcome again: their records
-- may be stored.
CREATE TABLE places (
    job  integer NOT NULL,
    host bigint  NOT NULL,
    hash uuid    NOT NULL,
    PRIMARY KEY (job, host, hash)
);

-- +goose Down
DROP TABLE places;
