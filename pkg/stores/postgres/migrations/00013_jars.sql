-- +goose Up

-- Cookies of a job by site, and how its log-in stands: crawl.Jar. version counts over all jars of a job.
CREATE TABLE jars (
	job     integer NOT NULL,
	site    text    NOT NULL,
	version bigint  NOT NULL,
	jar     bytea   NOT NULL,
	PRIMARY KEY (job, site)
);
CREATE UNIQUE INDEX jars_version ON jars (job, version);

-- +goose Down
DROP TABLE jars;
