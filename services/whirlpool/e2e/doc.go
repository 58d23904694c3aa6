// Package e2e holds the tests that try to break the promises of the product with the real program.
//
// They serve a synthetic web from the test's process, crawl it with `whirlpool crawl` in a process of its own, kill that at
// random instants, run the same command again, and compare what is left with the truth about the web, with a crawl that
// nobody disturbed, and with the server's log. Every check has a negative control: a crawler that is broken on purpose must
// fail it.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_PAGES   pages of the web of TestKilledAnywhere (3000)
//	WHIRLPOOL_E2E_KILLS   how often its crawl is killed (12)
//	WHIRLPOOL_E2E_HOSTS   hosts of the web of TestNoHostIsHurried (60)
//	WHIRLPOOL_E2E_DELAY   delay between two requests to a host there (200ms)
//	WHIRLPOOL_E2E_LARGE   not empty: 100 MB of malformed HTML and 10^6 nested elements, not a tenth of that
package e2e
