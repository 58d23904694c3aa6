package mongo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.RecordList = (*Job)(nil)

// RecordsAfter implements crawl.RecordList.
func (j *Job) RecordsAfter(ctx context.Context, after weburl.Key, limit int) (list []*crawl.Record, err error) {
	c := j.cursor(nil)
	defer c.close()
	c.last, c.limit = idOf(after), limit
	for len(list) < limit {
		doc, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		var r *crawl.Record
		if err == nil {
			r, err = record(doc)
		}
		if err != nil {
			return nil, fmt.Errorf("read the records of job %s behind %s: %w", j.id, after, err)
		}
		r.Job = j.id
		list = append(list, r)
	}
	return list, nil
}
