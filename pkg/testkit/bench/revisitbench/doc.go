// Package revisitbench simulates crawls that never end, to see how much of the Web the policy of pkg/revisit keeps
// fresh beside the proven optimum, uniform visits and what others do. Time is simulated: a year takes a second.
//
// A page changes by itself and is visited by the crawl under test; freshness is the part of the second half of the time
// in which the copy was what the page said, measured and not estimated. The same seed makes the same web, changes and
// result.
package revisitbench
