package report

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// attemptsPage is how many lines about a URL are read at a time.
const attemptsPage = 1000

// lastAttempts returns the last lines of the log about a URL.
func lastAttempts(ctx context.Context, log crawl.LogList, job crawl.JobID,
	u weburl.URL) (last []crawl.LogLine, err error) {
	for from := int64(0); ; {
		lines, next, err := log.AttemptsFrom(ctx, job, u, from, attemptsPage)
		if err != nil {
			return nil, err
		}
		last = append(last, lines...)
		last = last[max(0, len(last)-maxAttempts):]
		if from = next; len(lines) < attemptsPage {
			return last, nil
		}
	}
}
