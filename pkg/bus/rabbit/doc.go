// Package rabbit carries messages between programs over RabbitMQ: the bus of the stages, and the queues of the
// frontier.
//
// Its duties, in order:
//
//  1. Declare: the first program to come declares exchanges, queues and bindings, always the same (topology.go).
//  2. Publish: publish a message until the broker has confirmed that it is on disk. It waits while a topic is full, a
//     connection is lost, a queue was deleted or the broker has a memory alarm. Only the caller's context ends the wait
//     (publisher.go).
//  3. Deliver: acknowledge a message after its handler returned nil (consume.go). A message that failed comes back from
//     the topic's retry queue after its delay, or is buried with the reason (dispose.go).
//  4. Keep connections: one to publish and one to consume for each vhost, opened when first needed and reopened, with
//     growing pauses, when lost (link.go). What was not confirmed or acknowledged by then is done again.
//  5. Frontier queues: pull, settle and count tasks (queues.go). A lost connection makes every receipt invalid:
//     [ErrLost].
//  6. Report: queue lengths, whether topics are quiet, dead letters (depths.go, dead.go).
//
// It never acknowledges a message before its outputs are confirmed, and never drops one because it cannot be read. It
// never lets a broker dead-letter into a bounded queue: RabbitMQ drops what such a queue refuses.
package rabbit
