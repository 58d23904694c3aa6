-- +goose Up

-- Addresses by which a ring that is partitioned by ip places hosts: the first answer of DNS, for good.
CREATE TABLE addresses (
    host text COLLATE "C" PRIMARY KEY,
    addr inet                                              -- null: the host had none, and is placed by its name
);

-- +goose Down
DROP TABLE addresses;
