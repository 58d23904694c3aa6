package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Unkept records why fetched pages have no record. A fetched page has a record, a reason here, or a message that will
// bring one of them; otherwise it was lost.
//
// Only pages without a record are stored here: a page with a record costs nothing.
type Unkept interface {
	// Note stores why the page of a URL has no record: a short token, like the reasons of outcomes. It is durable when
	// Note returns. The last note counts. Note the reason before you release the page's body or settle its message.
	Note(ctx context.Context, job JobID, u weburl.URL, reason string) error
	// Reasons answers for each key in order; empty where nothing was noted.
	Reasons(ctx context.Context, job JobID, keys ...weburl.Key) ([]string, error)
}

// Reasons for a page without a record, besides those of documents that cannot be read and of plug-ins that drop a page.
const (
	ReasonNoIndex   = "noindex"    // the page asks not to be indexed
	ReasonNotStored = "not-stored" // the crawl keeps no records
	ReasonMissing   = "missing"    // its server says that there is no such page, and no render shows one
)
