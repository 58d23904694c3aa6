package crawl

// RepairReport is what a repair put right. It removes nothing: what it takes out of a store it sets aside in a file.
type RepairReport struct {
	Indexed   int64    `json:"indexed"`                  // records that the index did not lead to and leads to now
	Forgotten int64    `json:"forgotten"`                // entries of the index whose records are gone, or damaged
	SetAside  int64    `json:"set_aside"`                // lines, records and letters that were set aside
	AsideFile string   `json:"set_aside_file,omitempty"` // where they lie now
	Archives  int64    `json:"archives"`                 // damaged files under warc/ that were renamed to *.damaged
	Queued    int64    `json:"queued"`                   // URLs that were queued again
	Claimed   int64    `json:"claimed"`                  // queued URLs that had no claim and have one now
	Counters  int64    `json:"counters"`                 // counters of the tally that were wrong
	Left      []string `json:"left,omitempty"`           // what could not be put right, a sentence each
	Unproven  []string `json:"unproven,omitempty"`       // where nothing is wrong: what could not be proven to be right
}

// Changed reports whether the repair changed anything.
func (r *RepairReport) Changed() bool {
	return r.Indexed+r.Forgotten+r.SetAside+r.Archives+r.Queued+r.Claimed+r.Counters > 0
}
