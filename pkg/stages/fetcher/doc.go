// Package fetcher is the fetcher: it turns a leased task into one HTTP request and that request's answer into events.
//
// Its duties, in order, for each lease:
//
//  1. A lease that is delivered again is not carried out, because the first request may have been made. The frontier
//     gets the outcome "interrupted" and leases the URL again when the host may be asked.
//  2. A page is checked against the robots.txt of its origin; what is not known or forbids it ends the attempt.
//  3. One GET is sent, to the address the frontier reckoned with where it is known. Private addresses are refused when
//     they are dialled (package netguard).
//  4. The answer's status becomes a verdict; a redirect becomes a link to its target, which is a URL of its own. A
//     Retry-After is only read here: the frontier, which owns the hosts' clocks, waits.
//  5. The body is read under its limits: watched for idleness and rate, decoded, capped, hashed, spooled.
//  6. Exactly one outcome is reported, as the last event. An error is returned only for faults of our own: a store, the
//     spool, the archive, or a shutdown; the message then comes back, and duty 1 applies.
//
// It never follows a redirect, never repeats a request by itself, keeps no cookies, and never asks a proxy that the
// configuration does not name.
//
// A [Client] makes the request: over HTTP unless another is given, a browser that renders, say. A client has
// answers from somewhere; duties 1, 2, 4, 5 and 6 are the handler's for every client.
//
// # What is asked for
//
// User-Agent is the job's; From is sent when the contact is an e-mail address (RFC 9110, 10.1.2). Accept prefers HTML.
// Accept-Language is not sent: a site's own default is what a crawl of it wants. Accept-Encoding names what is
// understood: gzip, br, zstd, deflate. A task with validators makes a conditional request.
//
// # Bodies
//
// A body is decoded before anything else sees it: sizes, digests and limits are those of the decoded body. One that is
// longer than limits.max_body is cut there and is a page marked as truncated. One that stops coming (idle, total) or
// comes too slowly is a failed attempt: what would be kept depends on the server's mood. One that ends early is a
// failed attempt too, be it before its length or before its encoding says. An encoding that is unknown, or that the
// body does not honour, is refused: asking again gives the same. Plain text is read though an encoding is named, and
// checksums of gzip and zlib are not looked at, as in browsers.
//
// The Content-Type header decides what a body is. Where it is missing, unreadable or says nothing
// (unknown/unknown and the like) the first 512 bytes decide, by the WHATWG MIME Sniffing Standard. A sitemap may
// be XML, text or gzip of any name, up to MaxSitemap.
//
// # Connections
//
// The heads of answers in HTTP/1 are mended before net/http reads them (see tolerantConn): it refuses what many servers
// send and browsers show.
//
// They are kept alive and reused. Where an answer is abandoned its connection is closed, and the request counts as
// ended only then, so that what the frontier waits for is over in the server's log too.
//
// net/http repeats a GET by itself when a reused connection ends before the first byte of the answer. The server may
// have handled the first request, and would see a second one without any pause: the second is stopped before it is
// written (see contact), and the frontier asks again in its own time.
package fetcher
