// Package local keeps every store of a crawl on one machine's disk: the URLs and their outcomes, the frontier's queues,
// the journal of the in-process bus, hosts, robots.txt files, budgets, fingerprints, dead letters, pages and the log.
//
// A crawl's directory holds
//
//	pages.jsonl   one record a line, each URL once
//	crawl.log     one line an attempt or a skipped URL
//	state/        format (a version), lock, db/ (Pebble), spool/ (bodies between fetcher and parser)
//
// Its duties, in order:
//
//  1. What a call stored is written to the operating system when the call returns, so it survives the death of the process
//     at any instant. It is fsync'ed at least once a second, so a power failure takes back at most the last second, and
//     takes it back in order: what is left is a state that the crawl was in.
//  2. Claims, outcomes and queues are free of races: operations on one URL or one queue take their turns.
//  3. Many small operations at once share one write (see committer).
//  4. Memory stays bounded: nothing in it grows with the URLs, only with queues that are not empty and bodies in flight, and
//     bodies have a cap.
//
// It must never read a directory that another process has open, cut data that was promised to be durable, or guess at a
// format that it does not know.
package local
