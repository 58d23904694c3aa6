// Package member is a program's membership of a ring: it registers the node, keeps the newest table, joins and buries
// nodes together with all other members, and says at every moment whether this node may still act on what it knows.
//
// Its duties, in order:
//
//  1. [Member.Run] opens a session with the store of the ring, registers the node in it, and begins again with a new
//     registration whenever the session has ended: it is a new member then.
//  2. It reads table and registrations after each sign of a change, after each reconnection, and now and then: a watch
//     may be lost.
//  3. Whoever sees that the table does not fit the registrations (a node joins, or its registration has been missing
//     for the grace time) computes the next table and stores it by compare-and-set.
//  4. [Member.Fenced] turns true when two thirds of the session's timeout have passed since the last request that the
//     store has answered was sent, so before the store can have ended the session. It is computed from the clock when
//     it is asked, and needs no timer.
//  5. [Member.Alive] says whether another node's registration is there, for those who act on that node's behalf, such
//     as its fetchers.
//  6. [Member.Finish] and [Member.Drain] change the table on this node's behalf.
//
// No leader is needed. The next table is a function of what is stored (ring.Table.Reconcile), so all members strive for
// the same one; one compare-and-set wins, and the others read it and find nothing left to do. Each success brings the
// table nearer to the registrations, and none undoes another, so that the table stands still once they do. Members wait
// a moment that differs from one to the other before they write, so that a thousand of them do not write the same thing
// at once.
//
// It must never write while it is fenced, believe a table that is older than one it has had, or take the answer of a
// new session for one of the old.
package member
