package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Unkept remembers why pages that were fetched have no record. A page that was fetched has a record, or a reason here,
// or a message that brings one of them; else it was lost.
//
// It is asked and told of such pages only: a page that has a record costs nothing.
type Unkept interface {
	// Note notes why the page of a URL has no record, a short token like those of outcomes. It is durable when Note
	// returns. Of several notes the last counts. Whoever drops a page notes why before it lets go of the page's body,
	// or of the message that brought it.
	Note(ctx context.Context, job JobID, u weburl.URL, reason string) error
	// Reasons answers for each key in order; empty where nothing was noted.
	Reasons(ctx context.Context, job JobID, keys ...weburl.Key) ([]string, error)
}

// ReasonNoIndex is noted in Unkept of a page that asks not to be indexed. ReasonMediaType is the one of a page that
// turned out to be of another type than its header said, ReasonNoPage that of one that is no page, such as a sitemap,
// whatever it was thought to be.
const (
	ReasonNoIndex = "noindex"
	ReasonNoPage  = "no-page"
)
