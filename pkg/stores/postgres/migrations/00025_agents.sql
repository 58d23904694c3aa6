-- +goose Up

-- The programs of all nodes: each says every few seconds that it runs, and what it does (beat). wish is what somebody
-- asks of it: '' to work, 'stop' to take nothing, 'drain' to end.
CREATE TABLE agents (
    id      text PRIMARY KEY,
    node    text NOT NULL,
    program text NOT NULL,
    seen    timestamptz NOT NULL,
    wish    text NOT NULL DEFAULT '',
    beat    jsonb NOT NULL
);

-- What was changed of the settings of all programs while they run. version grows with each change.
CREATE TABLE program_settings (
    key     text PRIMARY KEY,
    value   text NOT NULL,
    version bigint NOT NULL
);

-- +goose Down
DROP TABLE program_settings;
DROP TABLE agents;
