// Package whirlpool runs a crawl from a Go program, in one process and with nothing else installed.
//
// A [Crawler] does what `whirlpool crawl` does: it stores its results in a directory, goes on where it stopped, and
// may be killed at any instant. Besides, it hands each stored record to a function, and pages to parsers that are
// written in Go ([crawl.SiteParser]). The example shows both.
package whirlpool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Crawler is a crawl into a directory. Dir and Job are needed.
type Crawler struct {
	Dir string // where results and state lie; another run on it goes on where this one stopped
	Job *crawl.Job
	// Parsers read pages besides the job's site rules.
	Parsers []crawl.SiteParser
	// Record, where it is set, gets the record of each page, in the order of pages.jsonl, when the crawl has ended or
	// stopped: those of earlier runs on the directory, too. An error of it ends the reading and is returned.
	Record func(r *crawl.Record) error
	// AllowPrivate permits loopback and private addresses.
	AllowPrivate bool
	// WARC says to write WARC files.
	WARC bool
	Log  *slog.Logger // nil: nothing is logged
	// Change may change the other options before the crawl begins; nil: they are as `whirlpool crawl` has them.
	Change func(o *node.LocalOptions)
}

// Main is called first in the main function of a program whose crawls open documents (PDF files and those of office
// programs): the program is run again to open them, and Main does so and does not return then. Without it the records
// of such documents have no text.
func Main() { documents.Main() }

// NewJob returns a job with the defaults of job files that starts at the seeds.
func NewJob(id crawl.JobID, seeds ...string) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = id, seeds
	return &job
}

// Run crawls until the job has ended or ctx is done. It reports whether the job has ended: if not, another Run on the
// directory goes on.
func (c *Crawler) Run(ctx context.Context) (finished bool, err error) {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	opt := node.DefaultLocal(c.Dir, c.Job, log)
	opt.SiteParsers, opt.WARC = c.Parsers, c.WARC
	opt.Node.Fetch.AllowPrivate, opt.Node.Fetch.PrivateJobs = c.AllowPrivate, true
	if c.Change != nil {
		c.Change(&opt)
	}
	l, err := node.OpenLocal(ctx, opt)
	if err != nil {
		return false, fmt.Errorf("crawl into %s: %w", c.Dir, err)
	}
	finished, err = l.Crawl(ctx)
	if err == nil && c.Record != nil {
		err = c.records(l)
	}
	if err = errors.Join(err, l.Close()); err != nil {
		return finished, fmt.Errorf("crawl into %s: %w", c.Dir, err)
	}
	return finished, nil
}

// records hands on what is stored.
func (c *Crawler) records(l *node.Local) error {
	return jsonl.EachRecord(l.Store.Pages().Lines(), c.Record)
}
