// Package peers is the bus of a node among others: an event that names another node (crawl.Addressed) goes to that node's broker, everything else to
// the node's own.
//
// Its duties, in order:
//
//  1. Route: group the messages of a publication by node. The groups of other nodes are published at the same time, what goes to the own broker after
//     them.
//  2. Keep one connection a node, opened when first needed. It is closed when the node has been unknown for a while, or its address has
//     changed.
//  3. Fail quickly where a broker is out of reach: the first publication takes as long as the timeout, those after it fail at once, and now
//     and then one tries again (breaker.go).
//  4. Say with each such failure that the message is to come back, however often it did (bus.RetryError). It waits where it came from, on disk,
//     and is handled anew: by the table of the ring of that moment.
//
// It must never bury a message because a node is away, keep one in memory that no caller waits for, or let one node that is away hold up what goes
// to the others.
package peers
