// Package memcached puts a memcached before stores that are slower: robots.txt files, claimed URLs and DNS answers,
// shared by all programs of a cluster.
//
// Its duties, in order:
//
//  1. [Client.Robots], [Client.URLs] and [Client.Source] decorate a store. What the cache does not know, or cannot say
//     in time, the store is asked for; what the store says is remembered.
//  2. To ask for a batch costs one exchange with each server. Claims, which cost an exchange each, are remembered in
//     the background, and forgotten where too many wait.
//  3. No call waits longer for a server than Config.Timeout, even if its context is done before. A server that fails is
//     left alone for a while, a second at first and half a minute at last. When it does not answer after the first
//     while either, that is logged, and so is when it ends.
//  4. Hits, misses and errors are counted.
//
// The protocol is github.com/bradfitz/gomemcache's. It takes no contexts and sets a deadline for each line, so the
// connections that it is given hold a whole call to one deadline. It makes room for as many bytes as a server says a
// value has: servers are trusted that far, to be memcached.
//
// It must never be the truth: with all servers dead, flushed, or cold, every answer is the same, only slower. It never
// returns an error of its own. What comes out of a cache is bytes of a stranger: a value of another version, or one
// that does not decode, is a miss.
//
// # Why a cached answer breaks no promise
//
// URLs. What is cached is one fact: that this message claimed this URL. It is written after the store has answered that
// the claim is durable, and it never changes while the job exists: finishing a URL, taking its outcome back
// (Ledger.Reopen), replaying a dead letter and excluding change the URL's state, not who claimed it. So there is
// nothing to invalidate, and of two writers that race both write the same. The message that made the claim is always
// sent on to the store, which tells whether it is a Repeat; so a claim whose outputs were not published is published
// again, cache or no cache. To any other message the answer is Known, for Claim and for Exclude. URLs that are only
// excluded are not cached, since they can still be claimed; nor is the answer Known, because it does not say who
// claimed.
//
// A job that is deleted and begun again under its old id (--fresh) is another job. The decorator is therefore given an
// [Epoch]: it names this life of the job, by its number and the time of its creation, and is part of every key. A
// number alone would not do, as it starts again with a new database. Keys of a former life are never asked for again
// and fall out. Where there is no epoch, the cache is not used. One thing can make the fact untrue: a PostgreSQL that
// was restored to an earlier time within the job's life. Then flush memcached before the programs start, or change
// Config.Prefix; entries live a day at most.
//
// robots.txt. A record is believed until its own Expires and at most ten minutes. PutRobots writes to the store first
// and then replaces the cached record, while a reader only adds where there is none: a reader that was overtaken does
// not put the old record back. Where replacing fails, other programs may see the record before for up to ten minutes of
// its own validity, which is what they may do with their own memory as well (RFC 9309, 2.4, allows a day). The frontier
// has a robots.txt fetched again only when its record has expired, and an expired record is not believed, so a page
// that waits for the new rules gets them. That an origin has no record is not cached: it may have one at any moment.
//
// DNS. Addresses are believed until the end of their time to live; failures and names that do not exist are not cached.
// Whether an address may be contacted is decided where it is dialled (package netguard), never here. Answers with an
// address that is not public are neither stored nor believed: they are the affair of one network, and no entry of a
// shared cache may lead a fetcher into a private one. For the same reason single labels, which a search list completes,
// are not shared.
//
// A flush or a restart of memcached forgets all of it; then everything is asked for once more.
package memcached
