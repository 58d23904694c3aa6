package crawl

import "context"

// PageTexts are the words of the pages of jobs with Search, where the records themselves are not searched: in a
// cluster.
type PageTexts interface {
	// PutText stores the words of a record in place of those that its page had. Words of a later visit stay. A copy of
	// another page has none, and neither has one that may not be kept: its page is not found any more.
	PutText(ctx context.Context, r *Record) error
}
