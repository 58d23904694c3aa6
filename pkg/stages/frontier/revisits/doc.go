// Package revisits remembers the pages of continuous jobs between their visits, and says which are visited next.
//
// It joins the arithmetic of package revisit to the store of what is remembered (crawl.Revisits). The frontier, its
// only user, owns queues, leases and the ledger; nothing here knows them.
//
//	Book  all jobs of a process: what they share is the store, the calendar and the locks of pages
//	Job   one continuous job: thresholds, ration, caps and habits of hosts, figures
//	Turn  the pages of a job that are visited now
//
// What happens to a page, in order: its first outcome puts it into the store ([Job.NoteVisits]); what its content says
// is noted when the parser tells it ([Job.Observe]); lists and links tell that it changed ([Job.Told]); [Job.Next]
// finds that it is due, [Turn.Tasks] makes the task of its next visit, and [Turn.Took] takes it out of what is due.
// Where the task is lost, [Book.VisitAnew] makes the page due again.
//
// All pages of a job are counted from time to time, which finds the thresholds ([revisit.Census]).
package revisits
