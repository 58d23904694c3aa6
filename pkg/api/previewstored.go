package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	sectionPreviews = "api.previews"
	previewStored   = time.Second // between two times that one that counts is stored
)

// store keeps what a preview tells, for other copies of the program: what is stored later was told later. It deletes
// what is too old.
func (ps *previews) store(c *counting) {
	c.storing.Lock()
	defer c.storing.Unlock()
	now := c.shownNow()
	data, err := json.Marshal(now)
	if err == nil {
		err = ps.s.safe.each(ps.ctx, sectionPreviews, ps.s.now(), func(string, []byte) error { return nil })
	}
	if err == nil {
		err = ps.s.safe.put(ps.ctx, sectionPreviews, previewKey(c.job, now.ID), data, ps.s.now().Add(previewKept))
	}
	if err != nil && ps.ctx.Err() == nil {
		ps.s.log.Warn("other copies of this program do not know a preview", "preview", now.ID, "error", err)
	}
}

// stored is a preview that another copy counts, as it was last told; nil: there is none.
func (ps *previews) stored(ctx context.Context, job crawl.JobID, id string) (*counting, error) {
	data, err := ps.s.safe.get(ctx, sectionPreviews, previewKey(job, id), ps.s.now())
	if err != nil || data == nil {
		return nil, err
	}
	c := &counting{job: job, cancel: func() {}, done: make(chan struct{}), fresh: make(chan struct{})}
	close(c.done) // nothing more comes from it here: who waits asks again
	return c, json.Unmarshal(data, &c.now)
}

func previewKey(job crawl.JobID, id string) string { return string(job) + "/" + id }
