-- +goose Up

-- Why pages that were fetched have no record. A page that has one has no row here, so this costs only what it explains.
CREATE TABLE unkept (
    job    integer     NOT NULL,
    host   bigint      NOT NULL,
    hash   uuid        NOT NULL,
    noted  timestamptz NOT NULL DEFAULT now(),
    reason text        NOT NULL,
    PRIMARY KEY (job, host, hash)
);

-- Of the pages that earlier builds fetched and did not keep nobody knows why. 1 is the verdict of a page that was
-- answered.
INSERT INTO unkept (job, host, hash, reason)
SELECT u.job, u.host, u.hash, 'earlier-build' FROM urls u
WHERE u.state = 2 AND u.kind = 0 AND u.verdict = 1 AND u.status BETWEEN 200 AND 299 AND NOT EXISTS (SELECT FROM fingerprints f
    WHERE f.job = u.job AND f.page_id = int8send(u.host # '-9223372036854775808'::bigint) || uuid_send(u.hash));

-- +goose Down
DROP TABLE unkept;
