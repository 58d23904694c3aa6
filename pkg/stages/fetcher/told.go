package fetcher

import (
	"context"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxTold bounds what is remembered of whom the sitemaps of origins were named to.
const maxTold = 1 << 17

// told remembers which jobs had the sitemaps of which origins named that others asked for the robots.txt of. What it
// forgets is named again: the URLs are known then.
type told struct{ seen *lru.Cache[uint64, struct{}] }

func newTold() told { return told{lru.New[uint64, struct{}](maxTold, maxTold)} }

func toldKey(job *crawl.Job, origin string) uint64 {
	return xxh3.HashString(lifeOf(job) + "\n" + origin)
}

func (t told) add(job *crawl.Job, origin string) { t.seen.Put(toldKey(job, origin), struct{}{}, 1) }

func (t told) drop(job *crawl.Job, origin string) { t.seen.Delete(toldKey(job, origin)) }

func (t told) has(job *crawl.Job, origin string) bool {
	_, has := t.seen.Get(toldKey(job, origin))
	return has
}

// lifeOf names a job, and the life of one that was deleted and began anew.
func lifeOf(job *crawl.Job) string {
	if job.First == 0 {
		return string(job.ID)
	}
	return fmt.Sprintf("%s from %d", job.ID, job.First)
}

// sitemapsOfOthers names the sitemaps of a page's origin to a job that did not ask for its robots.txt, because it was
// known from another: with the first page of the origin. A lease that comes again may have been lost with what it
// named.
func (h *Handler) sitemapsOfOthers(ctx context.Context, job *crawl.Job, task *crawl.Task,
	rec *crawl.Robots) ([]crawl.Event, error) {
	if rec.Job == "" || rec.Job == lifeOf(job) || rec.State == crawl.RobotsDisallowAll || h.told.has(job, rec.Origin) {
		return nil, nil
	}
	file, found, err := h.deps.Robots.File(ctx, rec.Origin)
	if err != nil || !found {
		return nil, err
	}
	h.told.add(job, rec.Origin)
	u, err := weburl.Parse(crawl.OriginOf(rec.Origin) + "/robots.txt")
	if err != nil {
		return nil, nil //nolint:nilerr // an origin that has no such URL has no rules
	}
	asked := crawl.Task{Job: task.Job, URL: u, Kind: crawl.KindRobots, For: rec.Origin, Depth: task.Depth, Seed: task.Seed,
		Epoch: task.Epoch}
	return StoredSitemaps(job, &asked, &file), nil
}
