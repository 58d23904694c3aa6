package node

import (
	"context"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/wacz"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// packager packs the archive of a job into a WACZ file.
func (e *Engine) packager(job *crawl.Job, pages deliver.Source) func(ctx context.Context, file string) error {
	return func(ctx context.Context, file string) error {
		if err := e.archives.end(job.ID); err != nil { // it is opened again where the job goes on
			return err
		}
		dir := filepath.Join(e.store.JobDir(job.ID), "warc")
		if files, err := warc.Files(dir); err != nil || len(files) == 0 {
			e.log.Warn("there is no archive to pack: the crawl keeps none, or has asked for nothing since it does",
				"job", job.ID)
			return nil //nolint:nilerr // a directory that is not there
		}
		seeds, _ := job.SeedURLs() // checked before the crawl began
		for i, u := range seeds {
			seeds[i] = job.Canonicalizer().Canonical(u)
		}
		_, err := wacz.Write(ctx, wacz.Options{Archives: []string{dir}, File: file, Title: string(job.ID), Seeds: seeds,
			Pages: packed(ctx, pages)})
		return err
	}
}

// packed are the pages that a package lists.
func packed(ctx context.Context, pages deliver.Source) func(yield func(wacz.Page, error) bool) {
	return func(yield func(wacz.Page, error) bool) {
		err := pages.EachLine(ctx, 0, func(_ int64, line []byte) (bool, error) {
			if jsonl.IsReplaced(line) {
				return true, nil
			}
			r, err := jsonl.ParseRecord(line)
			if err != nil { // an audit tells
				return true, nil //nolint:nilerr // the package has the other pages
			}
			return yield(wacz.Page{URL: r.URL, At: r.FetchedAt, Title: r.Title}, nil), nil
		})
		if err != nil {
			yield(wacz.Page{}, err)
		}
	}
}
