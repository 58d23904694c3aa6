// Package postgres keeps a cluster's stores in PostgreSQL (15 or later): the URL set and ledger, budgets, fingerprints,
// host and robots.txt records, the attempt log and the jobs.
//
// Its duties, in order:
//
//  1. Open one pool of connections and migrate the schema. Programs may start at the same time: one migrates, the
//     others wait.
//  2. Implement the store interfaces of package crawl, a batch in one statement where possible. When a call returns,
//     its changes are as durable as the server's synchronous_commit makes them. Only Budgets may forget its last moment
//     in a crash, as its interface allows.
//  3. Tell temporary errors from permanent ones. A lost connection, a restarting server and a full disk are plain
//     errors; data that the server will never accept is crawl.Permanent. Deadlocks, and statements that never reached
//     the server, are retried here.
//  4. Read everything back in bounded memory for explain, audit and export, and rebuild the tasks of open URLs.
//
// Every change may be made twice. If the answer to a statement is lost with its connection, the caller sends it again
// and gets the same answer, or Repeat.
//
// The resources that renders need lie here too, bodies included: compressed, by SHA-256, each once, and at most
// Config.Resources octets in all. So a renderer reads what any node fetched. They are committed without waiting for the
// disk, because what is lost is fetched again; only wants wait.
//
// It never treats data in memory as stored, never holds a lock while it waits for a caller, and never sends text that
// the server refuses.
//
// Text comes from foreign pages: invalid UTF-8, and NUL, which PostgreSQL's text cannot hold, become U+FFFD.
package postgres
