// Package e2e tries to break the promises of the product with the real program.
//
// The tests serve a synthetic web from their own process and crawl it with `whirlpool crawl` in another. They kill that
// at random instants and run the same command again. Then they compare the result with the truth about the web, with a
// crawl that was not interrupted, and with the server's log. Every check has a negative control: a crawler that is
// broken on purpose must fail it.
//
// These variables make the tests larger:
//
//	WHIRLPOOL_E2E_PAGES   pages of the web of TestKilledAnywhere (3000)
//	WHIRLPOOL_E2E_KILLS   how often its crawl is killed (12)
//	WHIRLPOOL_E2E_HOSTS   hosts of the web of TestNoHostIsHurried (60)
//	WHIRLPOOL_E2E_DELAY   delay between two requests to a host there (200ms)
//	WHIRLPOOL_E2E_SERVE_KILLS   how often the server of TestAServerThatIsKilled is killed (20)
//	WHIRLPOOL_E2E_SERVE_SEED    what its instants follow from (1)
//	WHIRLPOOL_E2E_LARGE   not empty: 100 MB of malformed HTML and 10^6 nested elements, not a tenth of that
package e2e
