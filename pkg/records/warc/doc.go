// Package warc keeps raw exchanges in WARC 1.1 files (ISO 28500:2017), and checks such files.
//
// The duties of a [Writer], in order:
//
//  1. At [Open], finish what a killed process left: a file that still has the suffix ".open" is cut after its last
//     whole record and renamed.
//  2. Turn each exchange into a group of records: the response (or a revisit), its request, and a metadata record with
//     the referrer, the depth and the time it took. The two others name the response in WARC-Concurrent-To; as it comes
//     first, a file that was cut anywhere holds no dangling reference.
//  3. Compress each record as a gzip member of its own, in the caller's goroutine, and append the group under a lock.
//  4. Begin a new file, with a warcinfo record first, before one grows past its limit.
//  5. Bring what was written to the disk once a second. A record that was written survives the process at once, and the
//     machine after that second.
//
// # What a block holds
//
// An exchange brings decoded bodies and headers without their order, so a block is the HTTP message a server would have
// sent had it used no encoding: headers sorted by name, Content-Length that of the stored body. Content-Encoding,
// Transfer-Encoding and a Content-Length that was another on the wire are kept under X-Orig-*. An answer over HTTP/2
// has no status line; it gets that of HTTP/1.1, and WARC-Protocol tells the truth.
//
// # Digests
//
// WARC-Block-Digest and WARC-Payload-Digest are SHA-256 in hexadecimal. Many archives use SHA-1 in base32; SHA-1 is
// broken, and the payload digest of ours is the text that is in pages.jsonl, so that the two can be joined.
//
// # Revisits
//
// A body that was stored before, as far as the writer remembers, is not stored again: a revisit record with the profile
// identical-payload-digest names the first. A 304 becomes a revisit with the profile server-not-modified.
//
// The package never changes a file that is finished, and never one that another live process has open.
package warc
