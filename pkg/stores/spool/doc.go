// Package spool keeps bodies between the fetchers and parsers of a node, in a directory that the node's programs share
// (with containers, a volume).
//
// Its duties, in order:
//
//  1. [Spool.Put] writes a body to a file of its own, mostly with one write: a new file, or the file of a released
//     body, renamed. Nobody knows its name before Put has returned.
//  2. [Spool.Open] returns exactly what was put. A reference has the size and checksum of the body, so that half a
//     file, which a crash of the machine may leave, is never taken for a page.
//  3. [Spool.Release] removes the file's name and keeps the file for another body (at most 4,096 files of up to 128
//     KiB); larger files are deleted. Releasing twice is not an error. No reference leads out of the directory.
//  4. [Spool.Share] gives the body another name, a hard link. A file is used again only when it has one name.
//  5. While the disk is fuller than a limit, Put fails with a *bus.RetryError: the message comes back until there is
//     room, and is never buried for it.
//  6. [Sweeper] deletes bodies that nobody released, because their fetches were cut short. They are few. The age limit
//     must exceed the longest time that messages wait, also as dead letters, so that no body is deleted that is still
//     needed.
//
// It never guesses whether a missing body was lost or released.
//
// # Released or lost
//
// A message may be delivered again after its page was stored and its body released. The parser skips such a page when
// it gets crawl.ErrNoBody, so that error must be certain: otherwise pages would disappear unnoticed. Bodies are not
// fsynced, because at hundreds of pages a second that would cost more than the fetch. So a power failure can destroy
// bodies whose messages the broker kept. A sweep can delete them, a volume can be wiped, and fetcher and parser may
// turn out not to share one. A reference therefore records when it was made, in which spool, and in which boot of the
// machine. A missing body is ErrNoBody only if none of these can be the reason. Otherwise, and if the body is damaged,
// the error is crawl.ErrBodyLost, and the page is fetched again.
package spool
