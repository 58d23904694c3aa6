// Package postgres keeps a cluster's stores in PostgreSQL (15 or later): the URL set and ledger, budgets, fingerprints, host
// and robots.txt records, the attempt log and the jobs.
//
// Its duties, in order:
//
//  1. Open one pool of connections and bring the schema up to date. Programs may start at once: one migrates, the
//     others wait.
//  2. Answer the store interfaces of package crawl, a batch in one statement where it can be. What a call changed is as
//     durable when it returns as the server's synchronous_commit makes it; Budgets alone may forget their last moment in
//     a crash, as their interface allows.
//  3. Say whether an error will pass: a lost connection, a restarting server and a full disk come back as plain errors,
//     data that the server will never take as crawl.Permanent. Deadlocks and statements that never reached the server
//     are tried again here.
//  4. Read everything back in bounded memory for explain, audit and export, and rebuild the tasks of open URLs.
//
// Every change is made so that it can be made twice: a statement whose answer was lost with its connection is sent again
// by the caller and gets the answer it would have had, or Repeat.
//
// It must never keep what it has only in memory as if it were stored, hold a lock while it waits for a caller, nor send
// text to the server that the server refuses.
//
// Text comes from foreign pages: what is not UTF-8, and NUL, which PostgreSQL's text cannot hold, become U+FFFD.
package postgres
