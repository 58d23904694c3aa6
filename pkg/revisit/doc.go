// Package revisit decides when a page is visited again, so that a crawl that never ends keeps as much as it can fresh
// with the visits that it has. It is arithmetic alone: no I/O, no clock, no goroutine; whoever calls it says what time
// it is. docs/design/freshness.md has the measurements.
//
// In order:
//
//  1. [Observe] learns from a visit: whether the page had changed since the last one, was missing, moved or could not
//     be had. The belief about its rate of change is a [Rate], a Gamma posterior of censored observations that fade.
//  2. [Next] says when the page is due: when the expected value of a visit under that belief reaches the threshold of
//     its host, earlier where a signal (sitemap, feed) told of a change.
//  3. [Level] finds the thresholds from a histogram of beliefs ([Demand]): one for the whole crawl, so that its pages
//     want as many visits as its ration has, and a higher one for each host whose politeness allows less than that.
//  4. [Ration] gives the visits of a day out, one by one, whatever the clock does; [Shares] divides them between
//     discovery and revisits; [Bucket] is the part of time that a store sorts due pages by.
//
// Three rules of the one who schedules belong to it, and are measured with it. A host at its cap ([Host.Capped]) goes
// first whenever its politeness lets it: its visits are worth more, and a turn that it misses does not come back.
// Otherwise what is due earliest goes first. And where nothing is due, what will be due next is visited ahead of
// time: the ration is spent to the last visit.
//
// It must never keep a list of pages, and never ask what a page is about: [State] is all that is remembered of one.
package revisit
