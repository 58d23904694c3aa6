// Package nodes holds the tests that try to break the promises of several nodes of one ring.
//
// Each node has a broker of its own, and a network of its own: the tests run in a network namespace that has no way out, make one
// more for each node, and join them by a bridge. So the source address in the server's log tells which node asked, and a node can be
// cut off from ZooKeeper, or from everything but the web. PostgreSQL, the stand-in for MongoDB, memcached and ZooKeeper are shared. All of
// it is in a PID namespace that ends with the tests, whatever happens to them.
//
// Nodes crawl a synthetic web that is served from the test's process, while nodes join, leave, die and are cut off. What is left must be
// what `whirlpool crawl` finds alone and undisturbed; the server's log must show that each host was asked by its owner only, and that none
// was hurried. The ring's table, as an observer saw it change, is the oracle. Every check has a negative control.
//
// Where namespaces cannot be made (by anybody but root, or without Debian's servers) the nodes are told apart by their brokers
// only: the log cannot tell then who asked, and cut-offs are skipped.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_RUNS       crawls with troubles (1)
//	WHIRLPOOL_E2E_TROUBLES   which: join, drain, kill, cut-zookeeper, cut-others, separated by commas (all)
//	WHIRLPOOL_E2E_SEED       of the random numbers of the first such crawl (by chance); the next has the next number
//	WHIRLPOOL_E2E_DOCS       directory of a site of HTML pages that is crawled beside the synthetic web (generated)
package nodes
