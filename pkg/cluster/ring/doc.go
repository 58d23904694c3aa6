// Package ring says which node owns which part of the web. It is the table that all nodes of a cluster share, and the
// rules by which one table becomes the next; it knows neither where the table is kept nor what a node does with what it
// owns.
//
// Its duties, in order:
//
//  1. [Partition] makes a key of a URL: its host, mostly. All URLs of a key belong to one node.
//  2. [Table.Owner] finds the node: a 64-bit hash of the key falls into one of many virtual nodes, equal ranges whose
//     number never changes, and each virtual node belongs to one node. The cost does not grow with the number of nodes.
//  3. [Table.Join], [Table.Drain], [Table.Dead] and [Table.Finish] make the next table. They move as few virtual nodes
//     as balance allows, between a node that comes or goes and the others, never between two others; equal nodes own
//     equally many, to one virtual node.
//  4. A virtual node that moves has two owners to satisfy before anything of it is leased again: the one before must
//     have let go of it ([Handing]), unless it is dead, and then the new one must have read it from the ledger
//     ([Recovering]). [Table.MayLease] tells.
//  5. [Token] fences: what a node writes names its incarnation and the epoch it believes in, and a table says whether
//     that still counts.
//  6. [Table.Encode] and [Decode] carry a table, within what one node of ZooKeeper can hold.
//
// Tables are values: nothing changes one that exists, and every operation is deterministic, so that any two nodes that
// see the same make the same table. docs/design/ring.md has the state machine.
//
// It must never leave a virtual node without an owner while a node is alive, nor let two nodes lease from one virtual
// node.
//
// Weights are whole thousandths, and all arithmetic is in integers: floating-point results may differ between
// processors.
package ring
