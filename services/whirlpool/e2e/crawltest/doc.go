// Package crawltest is what the whole-crawl tests on real services share: services that a test starts, kills and
// removes; the web that one machine crawls undisturbed, for comparison; and the checks of what a crawl left and of how
// it treated the hosts.
//
// It is for packages of tests one directory below e2e: paths are relative to those.
package crawltest
