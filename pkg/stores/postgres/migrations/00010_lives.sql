-- +goose Up

-- A job that is deleted keeps its row: its next life begins behind the epochs of the former, and with another number.
-- Whatever carries an older epoch belongs to a former life.
ALTER TABLE jobs ADD COLUMN first_epoch integer NOT NULL DEFAULT 1;  -- of the present life
ALTER TABLE jobs ADD COLUMN deleted timestamptz;                     -- when its deletion began; null: it was not asked for
ALTER TABLE jobs ADD COLUMN gone boolean NOT NULL DEFAULT false;     -- its deletion came to its end

-- The numbers of former lives. No job gets one again; a row under one of them was written late, and goes with the next
-- deletion.
CREATE TABLE retired_numbers (
    number  integer     PRIMARY KEY,
    id      text        COLLATE "C" NOT NULL,
    retired timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE retired_numbers;
ALTER TABLE jobs DROP COLUMN first_epoch, DROP COLUMN deleted, DROP COLUMN gone;
