package explore

// schemaVersion is that of the tables. An index of another version is deleted and made again.
const schemaVersion = 5

// schemaMark tells our indexes from other SQLite files: "WPsx" as application_id.
const schemaMark = 0x57507378

// The tables of an index. A URL is known by hash: 64 bits of its key, which do for a view. Numbers of states, verdicts
// and kinds are those of the code; reasons, languages, types and names of fields are numbers of the table words. Times
// are milliseconds since 1970.
//
//	meta      how far the index is
//	hosts     what was asked of a host
//	urls      the last line of crawl.log of each URL; ids are in the order in which URLs were first seen
//	earlier   where in crawl.log the lines of a URL stand that are not its last
//	requests  where in crawl.log the requests to a host stand
//	cells     how many pages a host has in a depth and a state; its robots.txt and sitemaps are none
//	counts    how many URLs have a verdict (v), reason (r), status (s), or depth and state (d: sixteen times the depth
//	          and the state; p: the same of those in cells); how many records a language (L), type (T), status (S), what
//	          they are to others (C), or a field (F)
//	records   what lists show of a record, and where it is in the file
//	vals      values of site fields
//	valcounts how many records have a value
//	sums      what a comparison asks of a record (sums.go), a row a batch; the last of a URL counts
//	clusters  copies of an original
//	fts       words of records as textsearch.Folded writes them; it keeps no text
const schema = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT UNIQUE);
CREATE TABLE hosts(id INTEGER PRIMARY KEY, key TEXT UNIQUE, requests INT, pages INT, bytes INT, c2 INT, c3 INT, c4 INT, c5 INT,
  none INT, done INT, failed INT, excluded INT, depth INT, last INT, p50 REAL, p95 REAL, hist BLOB);
CREATE TABLE urls(id INTEGER PRIMARY KEY, hash INT UNIQUE, url TEXT, host INT, kind INT, depth INT, state INT, verdict INT,
  status INT, reason INT, attempts INT, at INT, us INT, bytes INT, epoch INT, priority INT, referrer INT, off INT);
CREATE INDEX urls_host ON urls(host, id);
CREATE INDEX urls_state ON urls(state, id);
CREATE INDEX urls_verdict ON urls(verdict, id);
CREATE INDEX urls_reason ON urls(reason, id) WHERE reason > 0;
CREATE INDEX urls_status ON urls(status, id) WHERE status > 0;
CREATE INDEX urls_depth ON urls(depth, id);
CREATE INDEX urls_referrer ON urls(referrer, id) WHERE referrer <> 0;
CREATE TABLE earlier(hash INT, off INT, PRIMARY KEY(hash, off)) WITHOUT ROWID;
CREATE TABLE requests(host INT, off INT, PRIMARY KEY(host, off)) WITHOUT ROWID;
CREATE TABLE cells(host INT, depth INT, state INT, n INT, PRIMARY KEY(host, depth, state)) WITHOUT ROWID;
CREATE TABLE counts(what TEXT, value INT, n INT, PRIMARY KEY(what, value)) WITHOUT ROWID;
CREATE TABLE records(id INTEGER PRIMARY KEY, hash INT UNIQUE, url TEXT, host INT, at INT, status INT, depth INT, lang INT, type INT,
  bytes INT, words INT, title TEXT, digest INT, text INT, simhash INT, copy INT, original INT, distance INT, off INT, len INT,
  sum INT, gen INT, fields TEXT);
CREATE INDEX records_lang ON records(lang, id);
CREATE INDEX records_type ON records(type, id);
CREATE INDEX records_status ON records(status, id);
CREATE INDEX records_host ON records(host, id);
CREATE INDEX records_copy ON records(copy, id);
CREATE INDEX records_original ON records(original, distance, id) WHERE original <> 0;
CREATE TABLE vals(name INT, value TEXT, id INT, PRIMARY KEY(name, value, id)) WITHOUT ROWID;
CREATE INDEX vals_id ON vals(id);
CREATE TABLE valcounts(name INT, value TEXT, n INT, PRIMARY KEY(name, value)) WITHOUT ROWID;
CREATE INDEX valcounts_n ON valcounts(name, n DESC, value);
CREATE TABLE sums(id INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE clusters(original INTEGER PRIMARY KEY, exact INT, near INT, size INT);
CREATE INDEX clusters_size ON clusters(size DESC, original);
CREATE VIRTUAL TABLE fts USING fts5(title, text, url, content='', contentless_delete=1, tokenize='ascii');
`
