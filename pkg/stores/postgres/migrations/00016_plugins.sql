-- +goose Up

-- The repository of plug-ins that all nodes share: values by names, as pkg/plugin/repo has them.
CREATE TABLE plugins (
    name text  COLLATE "C" PRIMARY KEY,  -- packages/HEX.tar, names/OWNER/NAME/VERSION, trust/HEX, signatures/HEX.minisig
    data bytea NOT NULL
);

-- +goose Down
DROP TABLE plugins;
