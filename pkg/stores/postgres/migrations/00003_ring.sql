-- +goose Up

-- The nodes whose writes count, one row each, and the ring itself under the empty name: its floor is the highest of
-- all, and that of whoever comes.
CREATE TABLE members (
    node        text    COLLATE "C" PRIMARY KEY,
    incarnation bigint  NOT NULL,                          -- the registration that counts
    entered     bigint  NOT NULL,                          -- epoch of the table under which it came
    floor       bigint  NOT NULL,                          -- writes under an older table are refused
    fenced      boolean NOT NULL DEFAULT false             -- all of its writes are
) WITH (fillfactor = 50);

INSERT INTO members (node, incarnation, entered, floor) VALUES ('', 0, 0, 0);

-- Whoever writes holds its node's lock shared until its transaction ends; whoever changes the node's row holds it
-- alone. An advisory lock is in memory only (its first key is WHIR in ASCII): as locks of the row, those of the many
-- who write at once would each be stored, with a number that runs out.

-- admit returns if the registration's write counts, and fails with WP001 if not. The statement behind it sees what was
-- committed before.
-- +goose StatementBegin
CREATE FUNCTION admit(who text, which bigint, acted bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    m members;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1464355154, hashtext(who));
    SELECT * INTO m FROM members WHERE node = who;
    IF m.incarnation = which AND m.floor <= acted AND NOT m.fenced THEN
        RETURN;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'WP001', MESSAGE = CASE
        WHEN m.node IS NULL OR m.incarnation < which THEN format('node %s, incarnation %s, has not entered', who, which)
        WHEN m.incarnation > which OR m.fenced THEN format('the registration of node %s, incarnation %s, is over', who, which)
        ELSE format('node %s acted under epoch %s, the ring is at %s', who, acted, m.floor) END;
END $$;
-- +goose StatementEnd

-- enter makes a registration count, in place of an older one, once nothing is being written by that any more. False: it
-- is over.
-- +goose StatementBegin
CREATE FUNCTION enter(who text, which bigint, came bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    lowest bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(1464355154, hashtext(who));
    SELECT floor INTO lowest FROM members WHERE node = '' FOR SHARE;
    INSERT INTO members AS m (node, incarnation, entered, floor) VALUES (who, which, came, coalesce(lowest, 0))
        ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, entered = excluded.entered, floor = excluded.floor, fenced = false
        WHERE m.incarnation < excluded.incarnation;
    RETURN EXISTS (SELECT FROM members WHERE node = who AND incarnation = which AND NOT fenced);
END $$;
-- +goose StatementEnd

-- refuse refuses what a registration writes under older tables than that of the epoch, or all of it, and returns when
-- what was admitted has ended.
-- +goose StatementBegin
CREATE FUNCTION refuse(who text, which bigint, epoch bigint, altogether boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1464355154, hashtext(who));
    UPDATE members SET floor = greatest(floor, epoch), fenced = fenced OR altogether WHERE node = who AND incarnation = which;
END $$;
-- +goose StatementEnd

-- Pages whose links are on their way to their claims. A row lives for seconds and is never in the way of a reader: the
-- table is small, is swept often, and its pages have room for new versions of rows.
CREATE TABLE following (
    job      integer     NOT NULL,
    kind     smallint    NOT NULL DEFAULT 0,
    host     bigint      NOT NULL,
    epoch    bigint      NOT NULL DEFAULT -1,              -- of the table by which the page was split; -1: no share was claimed yet
    hash     uuid        NOT NULL,
    changed  timestamptz NOT NULL DEFAULT now(),
    expected timestamptz,                                  -- when it was; null: shares came first
    parts    integer     NOT NULL DEFAULT 0,               -- shares of that epoch
    got      integer[]   NOT NULL DEFAULT '{}',            -- those that were claimed
    url      text,
    task     bytea,                                        -- as in urls
    PRIMARY KEY (job, host, hash)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_delay = 0);

-- +goose Down
DROP TABLE following, members;
DROP FUNCTION admit, enter, refuse;
