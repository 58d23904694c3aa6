// Package direct is the bus of a node whose stages all run in one process, over a broker.
//
// It hands events from stage to stage in memory. The broker has roots only: leases (fetch), batches of links (due) and
// renders, which are published and confirmed as between programs (crawl.Topic.Root). What grows from a root is its
// tree, and the root is acknowledged when the whole tree has come to its end. If the process dies, the broker delivers
// the root again, marked, and its tree grows again with the same ids: the promise of membus, with the broker for its
// journal.
//
// A part of a tree is at its end when
//
//   - its handler returned nil;
//   - it is in the broker, confirmed: as a root of its own, as a retry, as a dead letter, or because its topic has no
//     consumer in this process any more;
//   - it is an outcome, or a fresh URL, for which there was no room: it waits until all else of its tree is at its end,
//     and is published then. So no outcome is in the broker while its page is in memory only.
//
// Trees are only of roots that were never delivered before. What is in doubt, and what came over the broker though it
// is no root, is passed on by the broker, as between programs: so a page that kills its process is soon alone with its
// count of deliveries.
//
// If a connection is lost, trees go on. The broker delivers their roots again, and each copy joins the tree of the
// first.
package direct
