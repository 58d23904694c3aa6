-- +goose Up

-- Which life's name the records of a job have in MongoDB: 0 is the first. The records of each life have a collection of
-- their own, so that what a former life writes late is in none that is read.
ALTER TABLE jobs ADD COLUMN record_life integer NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE jobs DROP COLUMN record_life;
