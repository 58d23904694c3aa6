-- +goose Up

-- One key for each half, with the number of the job in it, and null for what is no candidate. With the job as a column
-- of its own, or the condition on the index, the planner may read a whole index instead where statistics still call the
-- table empty: in the first minutes of every crawl.
DROP INDEX fingerprints_upper, fingerprints_lower;
CREATE INDEX fingerprints_upper ON fingerprints
    ((CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | ((simhash >> 32) & 4294967295) END));
CREATE INDEX fingerprints_lower ON fingerprints
    ((CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | (simhash & 4294967295) END));

-- +goose Down
DROP INDEX fingerprints_upper, fingerprints_lower;
CREATE INDEX fingerprints_upper ON fingerprints (job, ((simhash >> 32)::integer)) WHERE page_type = 0 AND sketch IS NOT NULL;
CREATE INDEX fingerprints_lower ON fingerprints (job, (((simhash << 32) >> 32)::integer)) WHERE page_type = 0 AND sketch IS NOT NULL;
