// Package cluster tries to break the promises of a cluster with its real programs and real services.
//
// The tests start their own RabbitMQ, PostgreSQL, MongoDB (or its stand-in) and memcached, which they may kill. They
// serve a synthetic web from their own process and crawl it with the seven programs, each a process of its own.
// Meanwhile programs and services are killed, restarted, filled up and given wrong answers. The result must be that of
// an uninterrupted `whirlpool crawl` and match the truth about the web. The server's log must show that every delay was
// kept. Every check has a negative control: programs that are broken on purpose must fail it.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_PAGES   pages of the web (600)
//	WHIRLPOOL_E2E_KILLS   how often programs, and how often services, are killed during a crawl (8)
//	WHIRLPOOL_E2E_DELAY   delay between two requests to a host (40ms)
//	WHIRLPOOL_E2E_AWAY    how long the broker is away (20s)
package cluster
