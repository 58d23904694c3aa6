-- +goose Up

-- Hosts that people hold: no frontier leases from them.
CREATE TABLE held_hosts (
    key  text        COLLATE "C" PRIMARY KEY,
    held timestamptz NOT NULL DEFAULT now()
);

-- Turns of hosts that dry runs ask the frontiers for. A row lasts as long as its dry run.
CREATE TABLE guest_turns (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ask     jsonb       NOT NULL,                              -- node.guestAsk
    beat    timestamptz NOT NULL DEFAULT now(),                -- when the guest last looked
    state   smallint    NOT NULL DEFAULT 0,                    -- 0 asked, 1 given, 2 refused, 3 ended
    node    text,                                              -- that answered
    answer  jsonb,                                             -- node.guestAnswer
    outcome jsonb                                              -- node.guestOutcome; null: no request was made
);

-- +goose Down
DROP TABLE held_hosts, guest_turns;
