-- +goose Up

-- A move of the ledger to other servers that has not come to its end. Every database that takes part has the row of the
-- move. While the main server has one, its ledger_servers row of place 0 says -1 servers: programs of every version
-- that knows several servers are refused.
CREATE TABLE ledger_move (
    move         uuid     PRIMARY KEY,
    server       uuid     NOT NULL,                        -- names this database, as ledger_servers does
    step         smallint NOT NULL DEFAULT 0,              -- of the main server's row, as what follows
    from_servers uuid[],                                   -- in their order; none: the main server alone
    to_servers   uuid[],
    from_at      text[],                                   -- where they were reached, for people
    to_at        text[]
);

-- How far tables were copied to this database: from each part of the hosts, up to which key.
CREATE TABLE ledger_moved (
    tbl   text     NOT NULL,
    first bigint   NOT NULL,                               -- host with which the part begins
    job   integer  NOT NULL,
    host  bigint,                                          -- null: all of the job
    hash  uuid,
    done  boolean  NOT NULL DEFAULT false,
    PRIMARY KEY (tbl, first)
);

-- +goose Down
DROP TABLE ledger_move, ledger_moved;
