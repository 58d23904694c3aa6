// Package tables makes the reports of a crawl that people know from Heritrix: hosts, media types, status codes, seeds
// and reasons, each a table with the largest rows first, as text, CSV or JSON.
//
// All figures come from the lines of crawl.log, which a directory and a cluster keep alike: so they are the same in
// both. A URL counts once, by the last outcome in its lines; requests and bytes count each time. The lines are sorted
// on disk by host and URL. So memory does not grow with the hosts or URLs of a crawl.
package tables
