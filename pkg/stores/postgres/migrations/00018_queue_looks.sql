-- +goose Up

-- Looks of audits into the frontiers' queues: what each frontier holds of a job. They last for seconds, and their rows
-- go with their end.
CREATE TABLE queue_looks (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job     integer     NOT NULL,
    beat    timestamptz NOT NULL DEFAULT now(),            -- when the audit last asked for answers
    closing boolean     NOT NULL DEFAULT false
);

CREATE TABLE queue_look_answers (
    look   bigint   NOT NULL,
    node   text     COLLATE "C" NOT NULL,
    step   smallint NOT NULL,                              -- 1 begun, 2 all queues read, 3 closed, 4 failed
    rows   bigint   NOT NULL DEFAULT 0,                    -- that it wrote to queue_look_held
    unread bigint   NOT NULL DEFAULT 0,                    -- tasks that were not looked at
    fault  text,
    PRIMARY KEY (look, node)
);

-- What was open at the begin, and what the frontiers hold: a crash of the server takes them, and the counts tell.
CREATE UNLOGGED TABLE queue_look_open (
    look bigint NOT NULL,
    host bigint NOT NULL,
    hash uuid   NOT NULL
);
CREATE UNLOGGED TABLE queue_look_held (
    look bigint   NOT NULL,
    host bigint   NOT NULL,
    how  smallint NOT NULL,                                -- 0 queued, 1 leased, 2 leased for too long
    hash uuid     NOT NULL
);

-- +goose Down
DROP TABLE queue_looks, queue_look_answers, queue_look_open, queue_look_held;
