// Package frontier decides when a URL may be fetched.
//
// It is Mercator's frontier (Heydon and Najork 1999) over durable queues:
//
//	frontier.in ──▶ front queues 1..F ──draw──▶ back queues, one host each ──lease──▶ fetchers
//	                     ▲  by priority              ▲ min-heap by the earliest time         │
//	                     └── later.n: retries that wait ◀──────── frontier.outcome ◀──────────┘
//
// Duties, in the order of a URL's way:
//
//  1. [In] stores new tasks in the front queue of their priority.
//  2. The dispatcher ([Frontier.Run]) draws tasks from front queues chosen at random with a bias to the higher ones,
//     and gives each host that has work a place on the workbench. A host's tasks wait in a small buffer in memory,
//     still unsettled in the queue they came from, and behind it in a back queue of the host's own.
//  3. It leases the head task of the host whose time has come, never more at once than the host's connections. Where
//     the address of a host is known, hosts that share one share its politeness too.
//  4. [Outcomes] moves the clocks, records final outcomes in the ledger, puts retries aside, and frees the host. An
//     outcome passes one list of steps: outcome.go.
//
// A robots.txt is a task like any other: before the first page of an origin, and after its rules expire, the frontier
// leases robots.txt for the host instead, so that this request too keeps its distance to the others.
//
// Handlers only store; the dispatcher alone publishes. So the cycle frontier → fetcher → … → frontier cannot deadlock
// on full queues.
//
// Delivery is at least once, so a lease carries a number ([crawl.Task].Lease): an outcome frees a host only if it ends
// the lease that is under way, and an interrupted attempt from before a restart does not queue a task that is being
// fetched again.
//
// Memory holds a record for each active host, a bounded number, and a bounded number of tasks. After a restart the
// workbench is rebuilt from queues and host records, and no host is contacted before its delay has passed from then on:
// whatever request was under way at the crash ended earlier.
//
// [Frontier] joins parts, each a type in files of its own. Those that one mutex guards know no store:
//
//	workbench   which host is next: the schedule by time, places by grade (newcomers), turns of domains
//	hosts       active hosts, their records, and their clocks (clock.go, rest.go)
//	stock       tasks that wait, counted: front queues, back queues, retries, what was set aside
//	leases      tasks that are under way
//	robotsDesk  robots.txt files that must come before pages
//	jobs        budgets, what is held, and the extremes over all jobs
//	addresses   hosts that share an address
//	trouble     whether it is we who reach nobody
//
// And these need no lock:
//
//	duties      what belongs to other nodes; alone where there is no ring
//	links       which pages have links on their way; unfollowed where nobody follows them
//	placeKeeper pages that keep their places in a budget; noPlaces where no store keeps them
//	doubted     URLs that may be queued twice
//	gather      outcomes that share the commits of the stores
//	dispatcher  what Run alone uses: the outbox, and tasks on their way between queues
package frontier
