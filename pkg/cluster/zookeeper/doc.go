// Package zookeeper keeps the table of a ring and the registrations of its nodes in ZooKeeper (3.5 or later). It
// implements member.Store; what members do with it is package member's.
//
// Its duties, in order:
//
//  1. Open one session, with a connection of its own: when the session has ended, so has the connection, and nothing of
//     one session can be answered by another. It fails at once where no server can be reached: waiting is the program's
//     affair.
//  2. Keep the table in one node, changed by compare-and-set on that node's version, and each registration in an
//     ephemeral node.
//  3. Tell of changes: after each event of a watch, and after each reconnection, since a watch may be lost with its
//     connection. Watches are set again when what they watched is read again.
//  4. Prove that the session lives (Ping) by a request that goes through the leader. A follower that has lost its
//     leader goes on answering reads for a while in which the leader may end the session.
//  5. Notice a dead connection within two fifths of the session's timeout, so that another server can be tried before
//     the member is fenced.
//
// What lies where, under the root (default /whirlpool):
//
//	ROOT/RING/table        the table: ring.Table.Encode
//	ROOT/RING/nodes/NAME   ephemeral: {"address": "host:port", "weight": 1000};
//	                       its incarnation is the transaction that created it
//
// It must never retry a write whose outcome is not known, since the caller has to look at the table first.
package zookeeper
