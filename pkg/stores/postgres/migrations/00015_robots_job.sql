-- +goose Up

-- The job that asked for the file: the others are told its sitemaps with their first page of the origin.
ALTER TABLE robots ADD COLUMN job text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE robots DROP COLUMN job;
