// Package peerbench crawls one and the same web with whirlpool and with other crawlers, and judges them all by the log
// of the server: which pages they fetched, how often, and how many requests a host had to bear at once. What they cost
// is what the operating system says of their processes.
//
// The crawlers run one after the other, each from an empty directory, where no route leads out: links of real pages
// lead to the world. Each is told to obey robots.txt, not to wait between requests, and to keep what it fetches.
package peerbench
