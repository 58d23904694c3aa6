// Package explore reads the results of executions, finished or running: their URLs, hosts, pages, copies, logs. It is
// the read side of the API and of the studio.
//
// What it promises, most important first:
//
//  1. Cost the crawl next to nothing. What it needs beyond the crawl's own files is an index of its own (SQLite, one
//     file an execution), which follows crawl.log and pages.jsonl in batches and gives way to the crawl.
//  2. Say how far behind an answer is: every answer from the index carries its Index.
//  3. Answer within bounds: lists are paged by cursor, and a scan reads a limited number of rows and says how many.
//  4. Give what was crawled as plain text, never as HTML. Long values are cut and marked as cut.
//
// The index is derived: it can be deleted, and is made again. How far it has read is in the same transaction as
// what it read, so it survives a kill at any instant.
package explore
