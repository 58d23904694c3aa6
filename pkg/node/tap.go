package node

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Tap hears of the URLs of a crawl's pages as it goes. A nil function hears nothing, and costs nothing. It is called
// within the handlers of stages: it must not wait.
type Tap struct {
	// Found is called with each URL that was found within the scope, once, when it is claimed.
	Found func(weburl.URL)
	// Fetched is called with each URL that was answered with a page, when that is written to crawl.log. After a crash it
	// may be called again.
	Fetched func(weburl.URL)
}

// on puts the tap into the stores of a node.
func (t Tap) on(s *Stores) {
	if t.Found != nil {
		s.URLs = foundURLs{s.URLs, t.Found}
	}
	if t.Fetched != nil {
		s.Attempts = fetchedURLs{s.Attempts, t.Fetched}
	}
}

type foundURLs struct {
	crawl.URLSet
	tell func(weburl.URL)
}

// Claim implements crawl.URLSet.
func (f foundURLs) Claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	answers, err := f.URLSet.Claim(ctx, job, by, tasks)
	for i, a := range answers {
		if a == crawl.New && tasks[i].Kind == crawl.KindPage {
			f.tell(tasks[i].URL)
		}
	}
	return answers, err
}

type fetchedURLs struct {
	crawl.AttemptLog
	tell func(weburl.URL)
}

// Append implements crawl.AttemptLog.
func (f fetchedURLs) Append(ctx context.Context, lines ...crawl.LogLine) error {
	err := f.AttemptLog.Append(ctx, lines...)
	for i := range lines {
		l := &lines[i]
		if page := crawl.CountsAsPage(l.Kind, l.Verdict, l.Status); page && err == nil {
			f.tell(l.URL)
		}
	}
	return err
}
