-- +goose Up

-- What was learned of the pages of a host of a continuous job: revisit.Habits. host is what the keys of its pages begin
-- with, as in revisits.
CREATE TABLE habits (
    job    integer NOT NULL,
    host   bigint  NOT NULL,
    habits bytea   NOT NULL,
    PRIMARY KEY (job, host)
) WITH (fillfactor = 85);

-- +goose Down
DROP TABLE habits;
