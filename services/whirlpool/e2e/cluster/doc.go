// Package cluster holds the tests that try to break the promises of a cluster with its real programs and real services.
//
// They start a RabbitMQ, a PostgreSQL, a MongoDB (or its stand-in) and a memcached of their own, which they may kill, serve a
// synthetic web from the test's process, and crawl it with the seven programs, each a process of its own, while programs and services
// are killed, restarted, filled up and lied to. What is left must be what `whirlpool crawl` finds alone and undisturbed, and what the
// truth about the web says; and the server's log must show no host that was hurried. Every check has a negative control: programs
// that are broken on purpose must fail it.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_PAGES   pages of the web (1000)
//	WHIRLPOOL_E2E_KILLS   how often programs, and how often services, are killed during a crawl (8)
//	WHIRLPOOL_E2E_DELAY   delay between two requests to a host (40ms)
//	WHIRLPOOL_E2E_AWAY    how long the broker is away (20s)
package cluster
