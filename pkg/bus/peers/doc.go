// Package peers is the bus of a node in a ring. An event that names another node (crawl.Addressed) goes to that node's
// broker, every other event to the node's own.
//
// Its duties, in order:
//
//  1. Route: group the messages of a publication by node. Publish to the other nodes at the same time, and to the own
//     broker after them.
//  2. Keep one connection for each node, opened when it is first needed. Close it when the node has been unknown for a
//     while, or when its address has changed.
//  3. Fail fast if a broker cannot be reached: the first publication takes as long as the timeout, later ones fail at
//     once, and one tries again now and then (breaker.go).
//  4. Return a bus.RetryError with each such failure, so that the message comes back however often it has failed. It
//     waits on disk where it came from, and is then routed by the ring table of that moment.
//
// It never buries a message because a node is away, never keeps one in memory that no caller waits for, and never lets
// one absent node delay the messages of the others.
package peers
