package pipeline

import (
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ErrHandled is returned by a handler that finds that the message was handled before, and its outputs published:
// nothing follows from it now.
var ErrHandled = errors.New("the message was handled before")

// followUp adds to the outputs of a handler that a page has no links, where the frontier waits for them
// (crawl.Task.Tracked) and no output goes on with the page. So a stage that drops a page says nothing about its links,
// and no job waits for them for ever.
func followUp(in crawl.Event, out []crawl.Event) []crawl.Event {
	job, page, ok := crawl.PageOf(in)
	if !ok {
		return out
	}
	for _, e := range out {
		if j, p, ok := crawl.PageOf(e); ok && j == job && p == page {
			return out
		}
		if o, ok := e.(*crawl.Outcome); ok && o.Observed == nil && o.Task.Job == job && o.Task.URL == page {
			return out // it is fetched again, or has failed
		}
	}
	if none := crawl.NoLinks(in); none != nil {
		return append(out, none)
	}
	return out
}
