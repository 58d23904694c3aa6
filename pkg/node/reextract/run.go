// Package reextract applies site rules to pages that were fetched before, without a request: to the bodies that a job
// keeps (Job.KeepBodies) or to a WARC archive.
//
// Its duties, in order:
//
//  1. Find the body of each record that is no copy, and be sure that it is the one: it has the record's digest.
//  2. Apply the rules as the parser does, and amend the record where its fields change (crawl.Pages.Amend). All else in
//     the record stays as it is. Fields that parsers in Go gave to an HTML page are replaced too: they look
//     like those of rules.
//
// Killed at any instant, it has amended some records and not others; called again, it does the rest. It must never make
// a request.
package reextract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Options say what is worked on.
type Options struct {
	Job     crawl.JobID
	Rules   *parser.Rules
	Pages   crawl.Pages
	Records func() io.ReadCloser // all records, as lines of pages.jsonl
	Kept    crawl.KeptBodies
	// Line finds a stored record by its URL, for archives; nil: archives are not read.
	Line     func(ctx context.Context, key weburl.Key) (line []byte, found bool, err error)
	Archives []string // WARC files
	DryRun   bool     // change nothing
}

// Result counts records.
type Result struct {
	Records   int64 `json:"records"`   // that are no copies
	Amended   int64 `json:"amended"`   // whose fields changed
	Unchanged int64 `json:"unchanged"` // whose fields are as the rules give them
	NoBody    int64 `json:"no_body"`   // whose body is not kept, or damaged: they stay as they are
	Damaged   int64 `json:"damaged"`   // of those, the damaged ones
}

// workers is how many records are under way at once.
const workers = 8

// Run applies the rules. With kept bodies it goes through the records, with archives alone through these.
func Run(ctx context.Context, opt Options) (Result, error) {
	r := &run{opt: opt, results: make(chan verdict, workers), done: map[weburl.Key]struct{}{}}
	done := make(chan Result, 1)
	go func() { done <- count(r.results) }()
	err := r.records(ctx)
	if err == nil && len(opt.Archives) > 0 {
		err = r.archives(ctx)
	}
	close(r.results)
	return <-done, err
}

type verdict uint8

const (
	amended verdict = iota
	unchanged
	noBody
	damaged
	fromArchive // a record that was counted as one without body is amended or unchanged after all
)

func count(results <-chan verdict) (n Result) {
	for v := range results {
		switch v {
		case amended:
			n.Amended++
		case unchanged:
			n.Unchanged++
		case damaged:
			n.Damaged++
			n.NoBody++
		case noBody:
			n.NoBody++
		case fromArchive:
			n.NoBody--
		}
	}
	n.Records = n.Amended + n.Unchanged + n.NoBody
	return n
}

type run struct {
	opt     Options
	results chan verdict
	done    map[weburl.Key]struct{} // records that were found in archives: about 50 bytes each
}

// records goes through the records and their kept bodies.
func (r *run) records(ctx context.Context) (err error) {
	in := r.opt.Records()
	defer func() { err = errors.Join(err, in.Close()) }()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	err = jsonl.EachRecord(in, func(rec *crawl.Record) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if rec.DuplicateOf.IsZero() {
			g.Go(func() error { return r.record(ctx, rec) })
		}
		return nil
	})
	if failed := g.Wait(); failed != nil { // the reading was ended by it
		return failed
	}
	return err
}

func (r *run) record(ctx context.Context, rec *crawl.Record) error {
	body, found, err := r.opt.Kept.Kept(ctx, r.opt.Job, rec.Digest)
	switch {
	case errors.Is(err, codec.ErrBody):
		r.results <- damaged
		return nil
	case err != nil:
		return err
	case !found:
		r.results <- noBody
		return nil
	}
	return r.apply(ctx, rec, body)
}

// archives goes through the archives, for records whose bodies are not kept.
func (r *run) archives(ctx context.Context) error {
	const most = 1 << 30 // limits.max_body is at most that
	for _, name := range r.opt.Archives {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = warc.EachResponse(f, most, func(x *warc.Response) error { return r.response(ctx, x) })
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w; `whirlpool tool warc %s` lists what is wrong", name, err, name)
		}
	}
	return nil
}

func (r *run) response(ctx context.Context, x *warc.Response) error {
	u, err := weburl.Parse(x.URI)
	if err != nil || ctx.Err() != nil {
		return context.Cause(ctx) // nil for the URL of another record
	}
	line, found, err := r.opt.Line(ctx, u.Key())
	if err != nil || !found {
		return err
	}
	rec, err := jsonl.ParseRecord(line)
	if err != nil || rec.Digest != x.Digest || !rec.DuplicateOf.IsZero() {
		return err
	}
	if _, kept, err := r.opt.Kept.Kept(ctx, r.opt.Job, rec.Digest); kept && err == nil {
		return nil // it was applied to the kept body
	}
	if _, again := r.done[u.Key()]; again {
		return nil
	}
	r.done[u.Key()] = struct{}{}
	r.results <- fromArchive
	return r.apply(ctx, rec, x.Body)
}

// cuts are the values of Record.Cut that the rules decide.
var cuts = []string{parser.CutFields, parser.CutDepth}

// apply applies the rules to a body and amends its record. A record that a later visit replaced meanwhile stays.
func (r *run) apply(ctx context.Context, rec *crawl.Record, body []byte) error {
	if !r.opt.Rules.Reads(rec.ContentType) {
		r.results <- unchanged
		return nil
	}
	fields, cut := r.opt.Rules.Fields(rec, body)
	if same(rec.Fields, fields) {
		r.results <- unchanged
		return nil
	}
	if !r.opt.DryRun {
		_, err := r.opt.Pages.Amend(ctx, r.opt.Job, rec.URL, rec.Visit, func(stored *crawl.Record) {
			if stored.Digest != rec.Digest {
				return
			}
			stored.Fields = fields
			stored.Cut = append(slices.DeleteFunc(stored.Cut, func(c string) bool { return slices.Contains(cuts, c) }), cut...)
		})
		if err != nil {
			return err
		}
	}
	r.results <- amended
	return nil
}

// same compares fields as they are stored: lists come back from there as []any.
func same(a, b []crawl.Field) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
