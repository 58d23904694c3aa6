-- +goose Up

-- The validators of a page, and what else is remembered of it between two visits: crawl.AppendValidators. Null: none.
ALTER TABLE urls ADD COLUMN visited bytea;

-- +goose Down
ALTER TABLE urls DROP COLUMN visited;
