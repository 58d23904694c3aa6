package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// readPages compares the index of pages.jsonl with the ledger, and the file with the index.
func (a *audit) readPages(ctx context.Context) error {
	var sum, end int64
	from, to := a.files.pages.index()
	err := scanRange(ctx, a.at, from, to, func(k, v []byte) error {
		r, err := decodePage(k, v)
		if err != nil {
			a.Directory.Damaged++
			a.Example("damaged entry of the index", fmt.Sprintf("%x", k))
			return nil //nolint:nilerr // counted: an audit goes on
		}
		a.Pages++
		sum, end = sum+r.length, max(end, r.end())
		if !r.summed {
			a.Directory.Unsummed++
		}
		return a.judgeRecord(&r)
	})
	if err != nil {
		return err
	}
	a.PageBytes = sum
	info, err := os.Stat(a.files.pages.Name())
	if err != nil {
		return err
	}
	a.FileBytes = info.Size()
	if err := a.readLines(ctx); err != nil {
		return err
	}
	if end = max(end, a.replacedEnd); sum+a.replacedBytes != end {
		a.Faults = append(a.Faults, fmt.Sprintf(
			"the index of pages.jsonl leads to %d bytes, but its last record ends at byte %d", sum, end))
	}
	return a.readLog(ctx)
}

// judgeRecord asks the ledger about a record's URL: it must have a page for its outcome, or be on its way to one.
func (a *audit) judgeRecord(r *pageAt) error {
	known, page := false, false
	for _, job := range a.files.pages.owners() {
		uk := makeURLKey(job, r.key)
		v, closer, err := a.at.Get(uk[:])
		if errors.Is(err, pebble.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		var e entry
		if err := errors.Join(e.decode(v), closer.Close()); err != nil {
			return fmt.Errorf("entry %x: %w", uk, err)
		}
		known, page = true, page || e.isPage()
	}
	switch {
	case !known:
		a.StrayPages++
		a.note("stray page", r)
	case !page && !a.underWay[r.key]:
		a.Directory.Early++
		a.note("record of a URL that is not done", r)
	}
	return nil
}

// note makes an example of a record: its URL, where its line still says it, and where it stands.
func (a *audit) note(kind string, r *pageAt) {
	if len(a.Examples[kind]) >= crawl.MaxExamples {
		return
	}
	name := r.key.String()
	if u, ok := a.files.pages.urlAt(r.at, min(r.length, 1<<14)); ok && u.Key() == r.key {
		name = u.String()
	} else {
		a.unnamed[r.key] = true
	}
	a.Example(kind, fmt.Sprintf("%s at byte %d", name, r.at))
}

// readLines compares the lines of the file with the index.
func (a *audit) readLines(ctx context.Context) (err error) {
	end, err := a.committed()
	if err != nil {
		return err
	}
	lines, err := newSorter(a.s.path("state"), rawLine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.close()) }()
	if a.s.opt.Repair {
		end = a.FileBytes
	}
	err = a.files.pages.eachUnit(ctx, 0, end, func(at int64, unit, text []byte) error {
		if jsonl.IsReplaced(text) {
			if l, ok := a.files.pages.markedLine(at, unit, text); ok {
				return lines.add(l)
			}
		}
		u, ok := jsonl.URLOf(text)
		if !ok {
			a.Directory.Damaged++
			a.Example("damaged record", fmt.Sprintf("at byte %d: %.60q", at, text))
			return nil
		}
		p := place{at: at, length: int64(len(unit)), sum: checksum(unit)}
		return lines.add(makeLine(u.Key(), p, a.Directory.Unsummed > 0 && isRecord(text)))
	})
	if err != nil {
		return err
	}
	next, err := lines.merged()
	if err != nil {
		return err
	}
	return a.compareLines(ctx, next)
}

// committed is the length of pages.jsonl in the snapshot.
func (a *audit) committed() (n int64, err error) {
	v, closer, err := a.at.Get(a.files.pages.note(kindPageEnd))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	r := codec.Reader{B: v}
	n = int64(r.Uvarint(math.MaxInt64))
	return n, closer.Close()
}

// compareLines walks through the index and the sorted lines side by side.
func (a *audit) compareLines(ctx context.Context, next func() (line, bool, error)) error {
	l, ok, err := next()
	if err != nil {
		return err
	}
	extra := func() {
		if l.replaced() {
			a.noteReplaced(&l)
			return
		}
		a.Directory.Extra++
		a.note("extra record", &pageAt{l.key(), l.place()})
	}
	var none weburl.Key
	from, to := a.files.pages.index()
	err = scanRange(ctx, a.at, from, to, func(k, v []byte) error {
		want, err := decodePage(k, v)
		if err != nil {
			return nil //nolint:nilerr // counted before
		}
		var same []line
		for ok && err == nil && bytes.Compare(l[:len(none)], want.key[:]) <= 0 {
			if l.key() == want.key && len(same) < maxCopies && (!l.replaced() || l.place().at == want.at) {
				same = append(same, l)
			} else {
				extra()
			}
			l, ok, err = next()
		}
		if err == nil {
			a.judgeLines(&want, same)
		}
		return err
	})
	for ok && err == nil {
		extra()
		l, ok, err = next()
	}
	return err
}

// maxCopies bounds the lines of one URL that are held in memory.
const maxCopies = 64

// judgeLines compares the lines of a URL with what the index says.
func (a *audit) judgeLines(want *pageAt, lines []line) {
	d, placed, found := a.Directory, false, false
	for i := range lines {
		l := &lines[i]
		switch at := l.place().at; {
		case at == want.at && l.is(&want.place):
			placed, found = true, true
		case at == want.at:
			placed = true
			d.Damaged++
			a.note("damaged record", want)
		}
	}
	for i := range lines {
		l := &lines[i]
		switch at := l.place().at; {
		case at == want.at:
		case !placed && !found && l.is(&want.place):
			found = true
			d.Moved++
			a.Example("moved record", fmt.Sprintf("%s at byte %d, not %d", a.nameAt(want.key, at), at, want.at))
		default:
			d.Extra++
			a.note("extra record", &pageAt{want.key, l.place()})
		}
	}
	if !placed && !found {
		d.Missing++
		a.note("missing record", want)
	}
}

// noteReplaced counts a line that a later one replaces. One that was replaced since the audit began is no such line:
// the index that it looks at leads there.
func (a *audit) noteReplaced(l *line) {
	a.Directory.Replaced++
	p := l.place()
	a.replacedBytes, a.replacedEnd = a.replacedBytes+p.length, max(a.replacedEnd, p.end())
}

func (a *audit) nameAt(k weburl.Key, at int64) string {
	if u, ok := a.files.pages.urlAt(at, 1<<14); ok {
		return u.String()
	}
	return k.String()
}

// readLog looks for lines of crawl.log that are none.
func (a *audit) readLog(ctx context.Context) error {
	return eachLine(ctx, a.files.attempt.file, logName, a.files.attempt.length(), func(at int64, text []byte) error {
		if !isLogLine(text) {
			a.Directory.BadLines++
			a.Example("damaged line of crawl.log", fmt.Sprintf("at byte %d: %.60q", at, text))
		}
		return nil
	})
}

// eachLogged calls use for every line of crawl.log with its URL.
func (f *jobFiles) eachLogged(ctx context.Context, use func(u weburl.URL, text []byte) error) error {
	return eachLine(ctx, f.attempt.file, logName, f.attempt.length(), func(_ int64, text []byte) error {
		if u, ok := jsonl.LogURLOf(text); ok {
			return use(u, text)
		}
		return nil
	})
}

var logStart = []byte(`{"time":"`)

func isLogLine(text []byte) bool {
	return bytes.HasPrefix(text, logStart) && bytes.HasSuffix(text, []byte("\n")) && json.Valid(text)
}
