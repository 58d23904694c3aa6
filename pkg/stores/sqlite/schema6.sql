-- Whose quota executions count for, what they hold, and how many pages each got on which day: those of a day are
-- total - base. day is as in 2026-11-27, UTC.
ALTER TABLE executions ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE executions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN account TEXT NOT NULL DEFAULT '';
CREATE INDEX executions_open_of ON executions (account) WHERE ended_at IS NULL;
CREATE INDEX executions_bytes_of ON executions (account, bytes) WHERE bytes > 0;

CREATE TABLE day_pages (
	execution TEXT NOT NULL,
	day TEXT NOT NULL,
	account TEXT NOT NULL,
	base INTEGER NOT NULL,
	total INTEGER NOT NULL,
	PRIMARY KEY (execution, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX day_pages_of ON day_pages (account, day, base, total);
