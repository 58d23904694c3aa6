package report

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Freshness is how fresh the pages of a continuous job are, and which are visited next.
type Freshness struct {
	// Continuous says that the job visits pages again; else nothing below is told.
	Continuous bool                   `json:"continuous"`
	Figures    *crawl.FreshnessDetail `json:"figures,omitempty"` // nil: the pages were not counted yet
	Due        []DuePage              `json:"due"`               // those that are due first
}

// DuePage is a page, and how it is visited again.
type DuePage struct {
	URL string `json:"url"`
	Revisits
}

// mostDue is how many pages are told that are due first.
const mostDue = 50

// FreshnessOf tells how fresh the pages of a job are. figures are those of the process that runs it, where one does
// (running); else the pages are counted.
func FreshnessOf(ctx context.Context, r crawl.Revisits, job *crawl.Job, figures *crawl.FreshnessDetail, running bool,
	now time.Time) (*Freshness, error) {
	out := &Freshness{Continuous: job.Revisits(), Figures: figures, Due: []DuePage{}}
	if !out.Continuous || r == nil {
		return out, nil
	}
	if !running {
		d, err := countDetail(ctx, r, job, now)
		if err != nil {
			return nil, err
		}
		out.Figures = &d
	}
	due, err := r.Due(ctx, job.ID, revisit.BucketStart(1<<32-1), mostDue, nil)
	for i := range due {
		out.Due = append(out.Due, DuePage{due[i].URL.String(), *revisitsOf(&due[i].State, job, now)})
	}
	return out, err
}

// countDetail counts the pages of a job that does not run. Hosts have no names then.
func countDetail(ctx context.Context, r crawl.Revisits, job *crawl.Job,
	now time.Time) (d crawl.FreshnessDetail, err error) {
	plan, c := crawl.NewCensus(job, now)
	err = r.Each(ctx, job.ID, func(k weburl.Key, s revisit.State) error {
		c.Add(binary.BigEndian.Uint64(k[:]), &s)
		return nil
	})
	capped := c.Level()
	d.Freshness = crawl.FreshnessOf(c, plan, len(capped), now)
	d.Rates, d.Hosts = crawl.RatesOf(c), []crawl.CappedHost{}
	d.Curve = []crawl.FreshAt{{At: now, Fresh: d.Fresh}}
	return d, err
}
