// Package deliver writes stored records into files that grow while a crawl runs.
//
// What a file holds depends on the records and on its settings alone: their rows, in the order in which they were
// stored, each once. A note says how far a file is: up to where the records were read, and up to where the file
// holds their rows. A step appends rows, syncs the file, and then stores the note; what a kill leaves behind the noted
// length is cut, and made again, the same bytes. The note is kept where the store notes its records, so a power failure
// that takes some of these back takes back the note as well.
//
// A crawl that was killed takes back the records of pages whose links it did not all follow, and fetches them again;
// the records behind them close up. So the note has places further back, too, each with the last record before it: the
// file is cut at the last of them up to which the records are still those that were read, and goes on there.
//
// A file is written anew from the first record on where its settings have changed, and where it was deleted or became
// shorter.
//
// A record that a later one replaces has its row all the same, and the later one too: the last row of a URL counts.
package deliver
