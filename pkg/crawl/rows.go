package crawl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// LedgerRow is an entry of the ledger with its URL, for those who walk through a job.
type LedgerRow struct {
	Entry
	URL    weburl.URL // zero where an outcome came for a URL that nobody claimed
	Unkept string     // why its page has no record (Unkept); empty: nothing was noted
}

// StoredFingerprint is what content-seen keeps of a page, also of one whose content was dropped.
type StoredFingerprint struct {
	URL      weburl.URL
	Sameness Sameness
	Of       weburl.URL // the original; zero for one
	Distance int
	Digest   Digest
	Simhash  uint64
	Domain   string
	At       time.Time
}

// RecordHead is what an audit wants to know of a stored record.
type RecordHead struct {
	URL     weburl.URL // zero where it cannot be read
	Damaged bool       // it is not what was stored
	// Unsummed says that it was stored by a build that kept no checksums: only its form was checked.
	Unsummed bool
}
