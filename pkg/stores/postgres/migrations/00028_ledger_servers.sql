-- +goose Up

-- How a ledger is spread over servers. Place 0: this database has the jobs of a cluster, whose ledger is on so many
-- servers. Place 1 and up: it is that one of them, and has the rows of that part of the hosts. No row: the ledger is
-- here.
CREATE TABLE IF NOT EXISTS ledger_servers (
    place   integer PRIMARY KEY,
    cluster uuid    NOT NULL,
    servers integer NOT NULL,
    server  uuid    NOT NULL DEFAULT gen_random_uuid()     -- names this database
);

-- The servers, as the database with the jobs knows them: an empty database is not taken for one that has been lost.
CREATE TABLE IF NOT EXISTS ledger_list (
    place  integer PRIMARY KEY,
    server uuid    NOT NULL
);

-- +goose Down
DROP TABLE ledger_servers, ledger_list;
