package postgres

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// storeTask encodes the fields of a task that have no column: all but job, URL and kind. It appends to buf, which the
// rows of a batch share, and returns the task's part and the grown buffer.
func storeTask(buf []byte, t *crawl.Task) (stored, grown []byte) {
	rest := *t
	rest.Kind, rest.Repeat, rest.Lease = 0, false, 0
	from := len(buf)
	grown = crawl.AppendTaskRest(buf, &rest)
	return grown[from:len(grown):len(grown)], grown
}

// restoreTask reverses storeTask. The task is marked as a repeat, because its queue may still hold it. A row without a
// stored task was excluded and then opened; its task has only URL and kind.
func restoreTask(job crawl.JobID, url weburl.URL, kind crawl.Kind, stored []byte) (crawl.Task, error) {
	t := crawl.Task{URL: url}
	if len(stored) > 0 {
		if err := crawl.DecodeTaskRest(stored, &t); err != nil {
			return t, fmt.Errorf("task of %s: %w", url, err)
		}
	}
	t.Job, t.Kind, t.Repeat = job, kind, true
	return t, nil
}
