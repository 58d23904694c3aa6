package postgresbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/searchbench"
)

// searchWords is how many words a page has in the mean, and searchWriters how many are indexed at once, as by the
// workers of one content-seen.
const searchWords, searchWriters = 400, 4

// Search indexes the words of pages, one page at a time as content-seen does, and searches them at each size: twice
// alone, and once while the pages are indexed anew as fast as that goes, as those of a continuous crawl are. Snippets,
// which are cut from MongoDB's records, are not measured.
func Search(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "words of pages, %d a page in the mean\n%12s %12s %12s %12s %12s %12s %12s %12s %12s\n",
			searchWords, "pages",
			"pages/s", "our us/page", "its us/page", "KB a page", "", "median ms", "p95 ms", "worst ms"); err != nil {
			return err
		}
		for i, size := range sizes {
			from := int64(0)
			if i > 0 {
				from = sizes[i-1]
			}
			if err := s.measureSearch(ctx, from, size); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(w, "reproduce: whirlpool bench postgres-search")
		return err
	})
}

// measureSearch adds pages, and prints what that cost and how long searches take then.
func (s *scratch) measureSearch(ctx context.Context, from, to int64) error {
	before, began := s.cpu(ctx), time.Now()
	if _, err := s.putTexts(ctx, from, to, 0); err != nil {
		return err
	}
	n, took, used := float64(to-from), time.Since(began), s.cpu(ctx).since(before)
	var size int64
	if err := s.conn.QueryRow(ctx, "SELECT pg_total_relation_size('page_text')").Scan(&size); err != nil {
		return fmt.Errorf("benchmark: size of the words: %w", err)
	}
	us := func(d time.Duration) float64 { return d.Seconds() * 1e6 / n }
	line := fmt.Sprintf("%12d %12.0f %12.0f %12.0f %12.2f", to, n/took.Seconds(), us(used.ours), us(used.server),
		float64(size)/1e3/float64(to))
	for _, round := range []string{"first", "again", "indexing"} {
		search := s.search
		if round == "indexing" {
			search = func(ctx context.Context) ([]time.Duration, error) { return s.searchBeside(ctx, to) }
		}
		waits, err := search(ctx)
		if err != nil {
			return err
		}
		ms := func(i int) float64 { return waits[i].Seconds() * 1e3 }
		if _, err := fmt.Fprintf(s.out, "%s %12s %12.1f %12.1f %12.1f\n", line, round, ms(len(waits)/2),
			ms(len(waits)*95/100), ms(len(waits)-1)); err != nil {
			return err
		}
	}
	return nil
}

// putTexts indexes pages as of a visit, and returns how many were.
func (s *scratch) putTexts(ctx context.Context, from, to int64, visit int) (int64, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	records, texts := make(chan *crawl.Record), s.Texts()
	var put atomic.Int64
	var wg sync.WaitGroup
	for range searchWriters {
		wg.Go(func() {
			for r := range records {
				if err := texts.PutText(ctx, r); err != nil {
					stop(err)
				}
				put.Add(1)
			}
		})
	}
	at := int64(0)
	err := searchbench.EachRecord(int(to), searchWords, func(r *crawl.Record) error {
		if at++; at <= from {
			return nil
		}
		r.Job, r.Visit = job, visit
		select {
		case records <- r:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(records)
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return put.Load(), err
}

var errSearched = errors.New("all searches are made")

// searchBeside makes all searches once while pages are indexed anew, and prints how fast these were.
func (s *scratch) searchBeside(ctx context.Context, pages int64) (took []time.Duration, err error) {
	writing, stop := context.WithCancelCause(ctx)
	type written struct {
		pages int64
		err   error
	}
	ended, began := make(chan written, 1), time.Now()
	go func() {
		var all written
		for writing.Err() == nil && all.err == nil {
			var n int64
			n, all.err = s.putTexts(writing, 0, pages, 1)
			all.pages += n
		}
		ended <- all
	}()
	took, err = s.search(ctx)
	stop(errSearched)
	w, t := <-ended, time.Since(began)
	if err == nil && !errors.Is(w.err, errSearched) && !errors.Is(w.err, context.Canceled) {
		err = w.err
	}
	if err == nil {
		_, err = fmt.Fprintf(s.out, "%12s %12.0f pages/s indexed anew beside the searches that follow\n", "",
			float64(w.pages)/t.Seconds())
	}
	return took, err
}

// search makes all searches once, and returns how long they took, sorted.
func (s *scratch) search(ctx context.Context) (took []time.Duration, err error) {
	for _, text := range searchbench.Queries(searchbench.Asked) {
		q, err := textsearch.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("benchmark: search for %s: %w", text, err)
		}
		began := time.Now()
		if _, err := s.Texts().Search(ctx, job, postgres.TextSearch{Query: q, Limit: 10}); err != nil {
			return nil, fmt.Errorf("benchmark: search for %s: %w", text, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took, nil
}
