package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// queue queues the wanted URLs. The ledger has only their keys. Their texts are in crawl.log if they were fetched
// before, or in a record that links to them.
func (r *repair) queue(ctx context.Context) error {
	for num, keys := range r.want {
		if len(keys) == 0 {
			continue
		}
		job, ok := r.s.jobs.name(num)
		if !ok {
			return fmt.Errorf("job %d has no name", num)
		}
		f := finder{job: job, keys: keys}
		err := r.files.eachLogged(ctx, f.logged)
		if err == nil && len(keys) > len(f.found) {
			err = r.files.pages.eachUnit(ctx, 0, fileSize(r.files.pages.file),
				func(at int64, _, text []byte) error { return f.linked(at, text) })
		}
		if err == nil {
			err = r.again(ctx, job, f.tasks())
		}
		if err != nil {
			return err
		}
		for k := range f.found {
			delete(keys, k)
		}
	}
	return nil
}

func fileSize(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// again queues tasks and opens their URLs.
func (r *repair) again(ctx context.Context, job crawl.JobID, tasks []crawl.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	keys := make([]weburl.Key, len(tasks))
	for i := range tasks {
		keys[i] = tasks[i].URL.Key()
	}
	if err := r.enqueue(ctx, tasks); err != nil {
		return err
	}
	return r.s.urls.Reopen(ctx, job, keys...)
}

// finder finds out which URLs keys stand for.
type finder struct {
	job   crawl.JobID
	keys  map[weburl.Key]bool
	found map[weburl.Key]crawl.Task
}

func (f *finder) tasks() (out []crawl.Task) {
	for _, t := range f.found {
		out = append(out, t)
	}
	return out
}

// add notes a task of a wanted URL. The way that leads to it with the fewest hops counts.
func (f *finder) add(t crawl.Task) {
	k := t.URL.Key()
	if !f.keys[k] {
		return
	}
	if before, again := f.found[k]; again && before.Depth <= t.Depth {
		return
	}
	if f.found == nil {
		f.found = map[weburl.Key]crawl.Task{}
	}
	t.Job, t.Repeat, t.Priority = f.job, true, crawl.DefaultPriority
	f.found[k] = t
}

func (f *finder) logged(u weburl.URL, text []byte) error {
	if !f.keys[u.Key()] {
		return nil
	}
	l, err := jsonl.ParseLogLine(text)
	if err != nil || !l.Kind.InLedger() {
		return nil //nolint:nilerr // a damaged line says nothing
	}
	f.add(crawl.Task{URL: u, Kind: l.Kind, Depth: l.Depth, Referrer: l.Referrer, Seed: l.Depth == 0 &&
		l.Referrer.IsZero()})
	return nil
}

func (f *finder) linked(_ int64, text []byte) error {
	rec, err := jsonl.ParseRecord(text)
	if err != nil {
		return nil //nolint:nilerr // a damaged line says nothing
	}
	for i := range rec.Links {
		if u := rec.Links[i].URL; !u.IsZero() {
			f.add(crawl.Task{URL: u, Depth: rec.Depth + 1, Referrer: rec.URL})
		}
	}
	return nil
}

// log sets damaged lines of crawl.log aside.
func (r *repair) log(ctx context.Context) error {
	l, bad := r.files.attempt, 0
	err := eachLine(ctx, l.file, logName, l.length(), func(_ int64, text []byte) error {
		if !isLogLine(text) {
			bad++
		}
		return nil
	})
	if err != nil || bad == 0 {
		return err
	}
	f, err := os.Create(filepath.Join(r.files.dir, logName+".new"))
	if err != nil {
		return err
	}
	size := int64(0)
	err = eachLine(ctx, l.file, logName, l.length(), func(_ int64, text []byte) error {
		if !isLogLine(text) {
			return r.aside.add(text)
		}
		_, err := f.WriteAt(text, size)
		size += int64(len(text))
		return err
	})
	if err = errors.Join(err, f.Sync(), r.aside.flush(), f.Close()); err == nil {
		err = r.files.replace(&l.file, f.Name())
	}
	if err == nil {
		l.end = size
	}
	return err
}
