// Package nodes tries to break the promises of several nodes of one ring.
//
// Each node has its own broker and its own network: the tests run in a network namespace without a way out, create
// another one for each node, and join them by a bridge. So the source address in the server's log tells which node sent
// a request, and a node can be cut off from ZooKeeper, or from everything but the web. PostgreSQL, the stand-in for
// MongoDB, memcached and ZooKeeper are shared. Everything runs in a PID namespace that ends with the tests, whatever
// happens to them.
//
// The nodes crawl a synthetic web served from the test's process, while nodes join, leave, die and are cut off. The
// result must be that of `whirlpool crawl`. The server's log must show that each host was contacted by its owner only
// and that every delay was kept; the oracle is the ring's table, as an observer saw it change. Every check has a
// negative control.
//
// Without namespaces (not root, or not Debian's servers) the nodes are told apart by their brokers only: the log cannot
// tell who sent a request, and cut-offs are skipped.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_RUNS       crawls with troubles (1)
//	WHIRLPOOL_E2E_TROUBLES   which: join, drain, kill, cut-zookeeper, cut-others, separated by commas (all)
//	WHIRLPOOL_E2E_SEED       of the random numbers of the first such crawl (by chance); the next has the next number
//	WHIRLPOOL_E2E_DOCS       directory of a site of HTML pages that is crawled beside the synthetic web (generated)
package nodes
