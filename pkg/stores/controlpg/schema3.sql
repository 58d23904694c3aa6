-- Whose quota executions count for, what they hold, and how many pages each got on which day: those of a day are
-- total - base. day is as in 2026-11-27, UTC.
ALTER TABLE executions ADD COLUMN account TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE executions ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN account TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX executions_open_of ON executions (account) WHERE ended_at IS NULL;
CREATE INDEX executions_bytes_of ON executions (account, bytes) WHERE bytes > 0;

CREATE TABLE day_pages (
	execution TEXT COLLATE "C" NOT NULL,
	day TEXT COLLATE "C" NOT NULL,
	account TEXT COLLATE "C" NOT NULL,
	base BIGINT NOT NULL,
	total BIGINT NOT NULL,
	PRIMARY KEY (execution, day)
);
CREATE INDEX day_pages_of ON day_pages (account, day) INCLUDE (base, total);
