// Package storetest holds one conformance suite for each store interface of package crawl. A suite knows nothing of the
// implementation but its constructor, so the stores of one machine and those of a cluster are held to the same
// promises.
//
// Every subtest is named after the promise it checks or the hazard it provokes, and opens a store of its own, which
// must be empty. A suite must never check what the interface does not promise.
package storetest
