package postgres

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// storeTask encodes what stands in no other column of a task's row: not its job, URL and kind. It appends to buf, of which the rows of a
// batch share the room, and returns the part that is the task's and the buffer.
func storeTask(buf []byte, t *crawl.Task) (stored, grown []byte) {
	rest := *t
	rest.Kind, rest.Repeat, rest.Lease = 0, false, 0
	from := len(buf)
	grown = crawl.AppendTaskRest(buf, &rest)
	return grown[from:len(grown):len(grown)], grown
}

// restoreTask is the way back. The task is marked as a repeat: its queue may still hold it. A row without a stored task was excluded first and
// opened again; its task has a URL and a kind.
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
