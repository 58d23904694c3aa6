// Package rabbit carries messages between programs over RabbitMQ: the bus of the stages, and the queues of the frontier.
//
// Its duties, in order:
//
//  1. Declare: exchanges, queues and bindings are made by whichever program comes first, always the same (topology.go).
//  2. Publish: a message is published until the broker has confirmed that it is on disk. A full topic, a lost connection, a
//     queue that somebody deleted and a memory alarm make it wait; only the caller's context ends it (publisher.go).
//  3. Deliver: a message is acknowledged after its handler returned nil (consume.go). One that failed comes back from the
//     topic's retry queue when its time has come, or is buried with the reason (dispose.go).
//  4. Keep connections: one to publish and one to consume for each vhost, opened when first needed, made again with patience
//     when lost (link.go). What was not confirmed or acknowledged then happens again.
//  5. Frontier queues: pulled, settled, counted (queues.go). A lost connection voids every receipt, which [ErrLost] says.
//  6. Tell: depths, whether topics are quiet, what is buried (depths.go, dead.go).
//
// It must never acknowledge a message before its outputs are confirmed, never drop one because it cannot be read, and never
// let a broker dead-letter into a bounded queue: RabbitMQ drops what such a queue refuses.
package rabbit
