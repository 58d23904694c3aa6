// Package crawl is the domain of Whirlpool: what a job is, what travels between the stages, what becomes of a URL,
// and the stores that the stages need.
//
// # The story of a URL
//
//		frontier ──fetch──▶ fetcher ──parse──▶ parser ──contentseen──▶ content-seen ──urlfilter──▶ URL filter
//		   ▲ ▲                 │                                                                       │
//		   │ └─frontier.outcome┘                                                                   hostsplit
//		   └──────frontier.in────── DUE ◀──────────────due──────────────── host splitter ◀─────────────┘
//
//	 1. The frontier leases a [Task] to the fetchers when its host may be contacted: a [Fetch].
//	 2. The fetcher downloads it, spools the body and sends the [Page] on. It always reports an [Outcome].
//	 3. The parser turns the page into a [Document]: links, title, text, fields.
//	 4. Content-seen decides new, exact copy or near-duplicate, stores the [Record], and passes the [Links] on.
//	 5. The URL filter makes links canonical and applies the job's scope and rules: a [Filtered] of candidates.
//	 6. The host splitter finds the node that owns each host, and sends each node its [Claim].
//	 7. The duplicate URL eliminator (DUE) claims new URLs: [Fresh] tasks for the frontier.
//
// # Rules that every stage and store obeys
//
// Delivery is at least once, so every effect is idempotent. The id of a message is a function of its parent's id, the
// stage and the index ([MessageID.Child]); the id of a fetch is a function of job, URL and visit ([VisitID]). A message
// handled again therefore produces the same messages again, and a claim, which remembers the message that made
// it, gives the same answer again. Nothing between a claim and the publication of what was claimed can be lost.
//
// A URL is in exactly one state ([State]): queued, in flight, done with its outcome, or excluded with its reason.
//
// The package holds no transport, no driver and no clock; it imports only weburl.
package crawl
