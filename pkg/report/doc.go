// Package report answers questions about a crawl, in a directory or on a cluster: how far it is, which outcome a URL
// has and why, which messages could not be handled, and whether anything was lost.
//
// Its duties, in order:
//
//  1. [Crawl] answers for a directory, from its stores and, while the crawl runs, the frontier's figures.
//  2. [Serve] offers these answers to other processes over HTTP on a unix socket in the crawl's directory, because a
//     running crawl has exclusive use of its stores. Only the user who runs the crawl can connect.
//  3. [Client] asks such a server. It is a [View] like Crawl, so a command gets the same answers whether the crawl runs
//     or not.
//  4. [Cluster] shows the jobs and the pipeline of a cluster, and [ClusterJob] is the View of one job. Its audit walks
//     through the stores side by side, in memory that does not grow with the job.
//
// It reads the stores through narrow interfaces and never changes them: pausing and stopping are the caller's
// functions.
package report
