// Package frontier decides when a URL may be fetched.
//
// It is Mercator's frontier (Heydon and Najork 1999) over durable queues:
//
//	frontier.in ──▶ front queues 1..F ──draw──▶ back queues, one host each ──lease──▶ fetchers
//	                     ▲  by priority              ▲ min-heap by the earliest time         │
//	                     └── later.n: retries that wait ◀──────── frontier.outcome ◀──────────┘
//
// Its duties, in the order in which a URL passes through:
//
//  1. [In] stores new tasks in the front queue of their priority.
//  2. The dispatcher ([Frontier.Run]) draws tasks from front queues, chosen at random with a bias to higher priorities,
//     and gives each host that has tasks a place on the workbench. A host has a small buffer of tasks in memory, still
//     unsettled in the queue they came from, and a back queue of its own for the rest.
//  3. The dispatcher leases the first task of a host whose time has come. A host has no more leases at once than it may
//     have connections. Hosts with the same known address share its delay too.
//  4. [Outcomes] moves the hosts' clocks, records final outcomes in the ledger, queues retries for later, and frees the
//     host. An outcome passes one list of steps: outcome.go.
//
// A robots.txt is a task like any other. The frontier leases it before the first page of an origin, and again when its
// rules expire, so this request keeps its distance to the others too.
//
// Handlers only store; only the dispatcher publishes. So the cycle frontier → fetcher → … → frontier cannot deadlock on
// full queues.
//
// Delivery is at least once, so a lease has a number ([crawl.Task].Lease). An outcome frees a host only if it ends the
// lease in flight. An interrupted attempt from before a restart does not queue a task that is being fetched again.
//
// Memory is bounded: a record for each active host, of which there is a maximum number, and a maximum number of tasks.
// After a restart the workbench is rebuilt from queues and host records. No host is contacted before its delay has
// passed since the restart, because a request may have been in flight at the crash.
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
//	trouble     whether our own network is down
//
// And these need no lock:
//
//	duties      what belongs to other nodes; alone where there is no ring
//	links       which pages have links on their way; unfollowed if there is no store for them
//	placeKeeper pages that keep their places in a budget; noPlaces where no store keeps them
//	doubted     URLs that may be queued twice
//	gather      outcomes that share the commits of the stores
//	looks       what the frontier holds, for audits
//	book        which pages of continuous jobs are visited next: package revisits
//	dispatcher  what Run alone uses: the outbox, and tasks on their way between queues
package frontier
