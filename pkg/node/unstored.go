package node

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// unstored keeps no records. It notes of each page that this was wanted, so that none counts as lost.
type unstored struct {
	job    crawl.JobID
	unkept crawl.Unkept
}

var _ crawl.Pages = unstored{}

// Put implements crawl.Pages.
func (u unstored) Put(ctx context.Context, r *crawl.Record) error {
	return u.unkept.Note(ctx, u.job, r.URL, crawl.ReasonNotStored)
}

// Replace implements crawl.Pages.
func (u unstored) Replace(ctx context.Context, r *crawl.Record) error { return u.Put(ctx, r) }

// Amend implements crawl.Pages.
func (unstored) Amend(context.Context, crawl.JobID, weburl.URL, int, func(*crawl.Record)) (bool, error) {
	return false, nil
}

// Mark implements crawl.Pages.
func (unstored) Mark(context.Context, crawl.JobID, weburl.URL, int, func(*crawl.Record)) (bool, error) {
	return false, nil
}
