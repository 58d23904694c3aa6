-- +goose Up

-- The claim of a page whose content nothing there resembles, as most are: one statement instead of seven. What it does,
-- and why in this order, stands at ContentSet in pkg/postgres/contentset.go; each statement in it sees what was
-- committed before it began, so after the locks. It answers false, and has changed nothing, where there is something to
-- compare with: the program looks itself then.
-- +goose StatementBegin
CREATE FUNCTION claim_new_content(a_job integer, a_page bytea, a_digest bytea, a_simhash bigint, a_link_sum bigint, an_alg text, a_domain text, a_url text,
    a_sketch bytea, locks bigint[], near smallint, upper_keys bigint[], lower_keys bigint[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM count(pg_advisory_xact_lock(k)) FROM unnest(locks) AS k;
    IF EXISTS (SELECT FROM fingerprints WHERE job = a_job AND page_id = a_page)
        OR EXISTS (SELECT FROM fingerprints WHERE job = a_job AND page_fp = a_digest AND page_type = 0) THEN
        RETURN false;
    END IF;
    IF near >= 0 AND (
        EXISTS (SELECT FROM fingerprints
            WHERE (CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | ((simhash >> 32) & 4294967295) END) = ANY (upper_keys)
                AND bit_count((simhash # a_simhash)::bit(64)) <= near)
        OR EXISTS (SELECT FROM fingerprints
            WHERE (CASE WHEN page_type = 0 AND sketch IS NOT NULL THEN (job::bigint << 32) | (simhash & 4294967295) END) = ANY (lower_keys)
                AND bit_count((simhash # a_simhash)::bit(64)) <= near)) THEN
        RETURN false;
    END IF;
    INSERT INTO fingerprints (job, page_id, page_type, distance, same_links, simhash, link_sum, content_id, page_fp, fp_alg, domain, url, sketch)
    VALUES (a_job, a_page, 0, 0, false, a_simhash, a_link_sum, a_page, a_digest, an_alg, a_domain, a_url, a_sketch);
    RETURN true;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION claim_new_content;
