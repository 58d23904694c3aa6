// Package mongo keeps the content of a cluster's crawls in MongoDB: a record a page, in a collection a job.
//
// Its duties, in order:
//
//  1. A record is on the server's disk when [Store.Put] returns (w:1, j:true), whatever process dies next.
//  2. A record that is stored stays as it is: documents are inserted, never changed, and one whose _id is taken counts
//     as stored. So a message that is handled again does no harm.
//  3. Puts that come at the same time share a round trip: an unordered InsertMany, of whose documents each succeeds or
//     fails on its own. A document that the server does not want fails its own Put, and no other.
//  4. A server that is out of reach is reported within seconds, as a *bus.AwayError: the message comes back however
//     long that lasts, and is never buried for it.
//  5. [Job] reads the records back, for export, audit and explain, in memory that does not grow with their number.
//
// It must never change a stored record, and never hold a document that the server refuses for its size or encoding.
//
// # Documents
//
// The database (whirlpool by default) has a collection pages_JOB for each job; where a job that was deleted was
// submitted again, it is pages_JOB.N, N being the number of the first revision of its present life. A document has the
// fields of a line of pages.jsonl, in its order and under its names (package jsonl), with these differences:
//
//   - _id is the URL's key: 48 hexadecimal digits, of which the first 16 stand for the host. So the documents of a host
//     are neighbours in the order of _id.
//   - domain is the URL's registrable domain, created_at the time of storing.
//   - fetched_at and created_at are dates, exact to the millisecond.
//   - fields is a document, from the name of a site rule's field to its value: fields.company, fields.location. In a
//     name, "%", "." and NUL stand as %25, %2E and %00, a "$" at the start as %24, and an empty name as "%", because
//     servers refuse or misread them in a key. A value is a string, number, boolean, null or a list of them; anything
//     else (no site rule makes it) is its JSON text, and a number that JSON cannot hold is null.
//   - Text is UTF-8: each invalid byte becomes U+FFFD, as in pages.jsonl.
//   - A document larger than the server takes (16 MiB) is cut: text first, then assets, links and fields, from their
//     ends, as far as need be; cut then names what was cut.
//
// domain and fetched_at are indexed. In mongosh:
//
//	db.pages_books.find({domain: "example.com", fetched_at: {$gte: ISODate("2026-11-01")}})
//	db.pages_books.find({"fields.company": "ACME", duplicate_of: ""}, {title: 1, fields: 1})
//
// Only what FerretDB 1.24 understands as well is used: string ids, plain indexes, find by _id, range and sort.
package mongo
