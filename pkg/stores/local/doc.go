// Package local keeps every store of a crawl on one machine's disk: URLs and their outcomes, the frontier's queues, the
// journal of the in-process bus, hosts, robots.txt files, budgets, fingerprints, dead letters, pages and the log.
//
// A crawl's directory holds
//
//	pages.jsonl   one record a line, each URL once
//	crawl.log     one line for each fetch attempt or skipped URL
//	state/        format (a version), lock, db/ (Pebble), spool/ (bodies between fetcher and parser)
//
// A store of many jobs (Options.Executions) has a state of its own, and a directory for the results of each job.
//
// Its duties, in order:
//
//  1. Write to the operating system before a call returns, so that stored data survives the death of the process at any
//     instant. Call fsync at least once a second, so that a power failure loses at most the last second, and leaves a
//     state that the crawl was in.
//  2. Keep claims, outcomes and queues free of races: operations on one URL or one queue are serialised.
//  3. Share one write between many small operations (see committer).
//  4. Bound memory: it grows only with the number of queues that are not empty and with bodies in flight, which have a
//     limit.
//
// It never opens a directory that another process has open, never cuts data that was promised to be durable, and never
// guesses at a format that it does not know.
package local
