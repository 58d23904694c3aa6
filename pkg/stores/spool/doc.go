// Package spool keeps bodies between the fetchers and parsers of a node, in a directory that the node's programs share (a
// volume, where they run in containers).
//
// Its duties, in order:
//
//  1. [Spool.Put] writes a body to a file of its own, for most pages with one write: a released body's file, renamed, or a new one. Nobody
//     knows its name before Put has returned, and the reference travels after that.
//  2. [Spool.Open] gives back exactly what was put. A reference carries the body's size and checksum, so that half a file,
//     which a crash of the machine may leave, is never taken for a page.
//  3. [Spool.Release] takes the file's name away and keeps the file for another body (4,096 files of up to 128 KiB at most); larger ones
//     are removed. Releasing twice is no error. No reference leads out of the directory.
//  4. While the disk is fuller than a limit, Put refuses with a *bus.RetryError: the message comes back until there is
//     room, and is never buried for it.
//  5. [Sweeper] removes what nobody released: bodies of fetches that were cut short. They are few, and a body that is still
//     wanted must not go; so the age is to exceed the longest time that messages wait, also as dead letters.
//
// It must never tell a body that was lost from one that was released by guessing in silence.
//
// # Released or lost
//
// A message may be delivered again after the page was stored and its body released; the parser passes over such a page when
// it gets crawl.ErrNoBody. So that error must be certain, or pages would vanish without a word. Bodies are not fsync'ed (at
// hundreds of pages a second that would cost more than the fetch), so a power failure can take bodies whose messages
// the broker kept; a sweep can; so can a volume that was wiped, or one that fetcher and parser do not share after all. A
// reference therefore says when, in which spool and since which start of the machine it was made. A body that is
// missing is ErrNoBody only where none of these can be the reason; otherwise, and where it is damaged, the error is
// crawl.ErrBodyLost, and the page is fetched again.
package spool
