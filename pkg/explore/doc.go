// Package explore reads what executions left and leave: their URLs, hosts, pages, copies, logs. It is the read side of
// the API and of the studio.
//
// Its duties, in order:
//
//  1. Cost the crawl next to nothing. What it needs beyond the crawl's own files is an index of its own (SQLite, one
//     file an execution), which follows crawl.log and pages.jsonl in batches and gives way to the crawl.
//  2. Be right, or say how far behind it is: every answer from the index carries its Index.
//  3. Answer within bounds: a page of a list by cursor, a scan of so many rows at most, which says how many it scanned.
//  4. Give what was crawled as plain text. Nothing here is HTML, whatever a page held; long values are cut, and say so.
//
// The index is derived: it can be deleted, and is made again. How far it has read stands in the same transaction as
// what it read, so it survives a kill at any instant.
package explore
