package crawl

// AuditReport is what an audit of a crawl found. A sound crawl has no Faults. If it has Doubts, the audit could not
// prove everything.
type AuditReport struct {
	Claimed  int64 `json:"claimed"` // URLs ever claimed
	Done     int64 `json:"done"`
	Excluded int64 `json:"excluded"`
	Open     int64 `json:"open"`      // claimed, without outcome. In a directory: Queued + InFlight + Buried + Lost
	Queued   int64 `json:"queued"`    // in the frontier's queues, pulled or not
	InFlight int64 `json:"in_flight"` // in no queue, but in a message that is on its way

	Buried    int64 `json:"buried"`    // open, and only in dead letters: a replay brings it back
	Lost      int64 `json:"lost"`      // open, and in none of these: it would never be fetched
	Unclaimed int64 `json:"unclaimed"` // in a queue, but nobody claimed it
	// Doubled counts URLs that are queued more than once. A crash may leave some. They are marked as repeats, and the
	// frontier leases each URL once. Stale counts queued URLs that already have an outcome, for the same reason.
	Doubled int64 `json:"doubled"`
	Stale   int64 `json:"stale"`

	// Again counts the pages that are visited again, and Visiting those of them whose next visit is queued or under way.
	// Forgotten are neither that nor due: they would never be visited again.
	Again     int64 `json:"again,omitempty"`
	Visiting  int64 `json:"visiting,omitempty"`
	Forgotten int64 `json:"forgotten,omitempty"`

	Pages       int64 `json:"pages"`        // records that are stored
	PageBytes   int64 `json:"page_bytes"`   // that the index of pages.jsonl leads to
	FileBytes   int64 `json:"file_bytes"`   // of pages.jsonl
	StrayPages  int64 `json:"stray_pages"`  // records whose URL nobody claimed
	TallyOff    int64 `json:"tally_off"`    // counters that differ from what was counted
	DeadLetters int64 `json:"dead_letters"` // messages waiting for a replay
	Unreadable  int64 `json:"unreadable"`   // of them, those that this program cannot read

	Directory *DirectoryAudit `json:"directory,omitempty"` // nil: a job of a cluster
	Cluster   *ClusterAudit   `json:"cluster,omitempty"`   // nil: a crawl in a directory

	// what is wrong, a sentence each
	Faults []string `json:"faults,omitempty"`
	// what could be neither proven nor refuted, a sentence each; of a cluster see Cluster, too
	Unproven []string `json:"unproven,omitempty"`
	// Examples holds up to MaxExamples URLs (keys, where only the key is known) for each kind of finding.
	Examples map[string][]string `json:"examples,omitempty"`
}

// DirectoryAudit is what only an audit of a directory finds. A record is damaged if its line differs from what was
// stored, missing if its URL has no line, extra if the index does not lead to its line, moved if the index names
// another place, and early if its URL has no outcome yet, or one that is not a page.
type DirectoryAudit struct {
	// messages that are not wholly handled
	UnderWay int64 `json:"under_way"`
	// URLs whose outcome is a page: 2xx with content
	PageURLs int64 `json:"page_urls"`
	// of them, those without a record for a reason that is noted: noindex
	Unstored int64 `json:"unstored"`
	// of them, those with neither record nor reason
	Gone    int64 `json:"gone"`
	Damaged int64 `json:"damaged"`
	Missing int64 `json:"missing"`
	Extra   int64 `json:"extra"`
	// lines that later ones replace: they are no fault
	Replaced int64 `json:"replaced,omitempty"`
	Moved    int64 `json:"moved"`
	Early    int64 `json:"early"`
	// written by the first release, without a checksum: only their form can be checked
	Unsummed int64 `json:"unsummed"`
	// of crawl.log
	BadLines int64 `json:"bad_log_lines"`
	// files under warc/ that are damaged
	BadFiles int64 `json:"bad_archives"`
}

// ClusterAudit is what only an audit of a cluster's job finds. Its Queued, InFlight and DeadLetters cover all jobs: a
// broker does not count per job.
type ClusterAudit struct {
	Job JobID `json:"job"`
	// Still says that nothing moved while the stores were read, so that all of it is proven. Else Unproven says what is
	// not.
	Still    bool     `json:"still"`
	Unproven []string `json:"unproven,omitempty"`

	OpenOfAll int64 `json:"open_of_all_jobs"`
	LostOfAll int64 `json:"lost_of_all_jobs"`
	BadStates int64 `json:"bad_states"` // URLs in none of the three states, or done without a final verdict

	Fetched  int64 `json:"fetched"`  // pages that were answered with 2xx
	Unstored int64 `json:"unstored"` // of them, those that have no record for a reason
	// Reasons counts those by reason, and Vanished the ones that have neither record nor reason.
	Reasons   map[string]int64 `json:"reasons,omitempty"`
	Vanished  int64            `json:"vanished"`
	Damaged   int64            `json:"damaged"`   // records that are not what was stored
	Unsummed  int64            `json:"unsummed"`  // records of earlier builds, which have no checksum
	Originals int64            `json:"originals"` // fingerprints
	Copies    int64            `json:"copies"`

	// Waiting counts the pages whose content or links are still being processed. BuriedPages counts those of them that
	// a dead letter would finish.
	Waiting     int64 `json:"waiting"`
	BuriedPages int64 `json:"buried_pages"`

	Missing   int64 `json:"missing"`    // fingerprints whose record is not stored
	Unprinted int64 `json:"unprinted"`  // records without fingerprint
	Orphans   int64 `json:"orphans"`    // copies whose original has no fingerprint
	Misfiled  int64 `json:"misfiled"`   // records under the key of another URL
	OnTheWay  int64 `json:"on_the_way"` // fingerprints whose record may still be stored
}

// Doubts returns what the audit could neither prove nor refute, a sentence each.
func (r *AuditReport) Doubts() []string {
	if r.Cluster == nil {
		return r.Unproven
	}
	return append(r.Unproven[:len(r.Unproven):len(r.Unproven)], r.Cluster.Unproven...)
}

// MaxExamples bounds the examples of one kind in an AuditReport.
const MaxExamples = 20

// Example notes a URL, or a key, as an example of a kind of finding, unless there are enough.
func (r *AuditReport) Example(kind, what string) {
	if r.Examples == nil {
		r.Examples = map[string][]string{}
	}
	if len(r.Examples[kind]) < MaxExamples {
		r.Examples[kind] = append(r.Examples[kind], what)
	}
}

// TasksOf returns the tasks that an event will bring to the frontier, or back to it.
func TasksOf(e Event) []*Task {
	pointers := func(ts []Task) []*Task {
		out := make([]*Task, len(ts))
		for i := range ts {
			out[i] = &ts[i]
		}
		return out
	}
	switch e := e.(type) {
	case *Fetch:
		return []*Task{&e.Task}
	case *Outcome:
		return []*Task{&e.Task}
	case *Fresh:
		return pointers(e.Tasks)
	case *Filtered:
		return pointers(e.Tasks)
	case *Claim:
		return pointers(e.Tasks)
	}
	return nil
}
