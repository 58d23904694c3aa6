package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// kept is a line of pages.jsonl that stays: offset(8) line. They sort in the order of the file.
type kept [8 + len(line{})]byte

func rawKept(k *kept) []byte { return k[:] }

func (k *kept) line() *line { return (*line)(k[8:]) }

// pages rebuilds pages.jsonl and its index if they do not match. Every line that is the record of a page stays, other
// lines are set aside, and pages without a line are queued again.
func (r *repair) pages(ctx context.Context) (err error) {
	lines, err := newSorter(r.s.path("state"), rawLine)
	if err != nil {
		return err
	}
	stay, err := newSorter(r.s.path("state"), rawKept)
	if err != nil {
		return errors.Join(err, lines.close())
	}
	defer func() { err = errors.Join(err, lines.close(), stay.close()) }()
	sound, err := r.readLines(ctx, lines)
	if err != nil {
		return err
	}
	if err := r.choose(ctx, lines, stay, &sound); err != nil || sound {
		return err
	}
	if err := r.queue(ctx); err != nil { // before the index forgets which pages are missing
		return err
	}
	return r.rewrite(ctx, stay)
}

// readLines gathers the lines of the file. It reports whether all of them look like records and lie within the
// committed length.
func (r *repair) readLines(ctx context.Context, lines *sorter[line]) (sound bool, err error) {
	p := r.files.pages
	info, err := p.file.Stat()
	if err != nil {
		return false, err
	}
	sound = info.Size() == p.size.Load()
	return sound, p.eachUnit(ctx, 0, info.Size(), func(at int64, unit, text []byte) error {
		if jsonl.IsReplaced(text) { // it is no record any more: set aside where the file is written anew
			return nil
		}
		u, ok := jsonl.URLOf(text)
		if !ok || !bytes.HasSuffix(text, []byte("\n")) {
			sound = false
			return nil
		}
		return lines.add(makeLine(u.Key(), place{at: at, length: int64(len(unit)), sum: checksum(unit)}, isRecord(text)))
	})
}

// choice walks the lines of the file and the entries of the index together, both in the order of their keys, and
// decides which lines stay.
type choice struct {
	r     *repair
	stay  *sorter[kept]
	sound *bool // becomes false where the file or the index must change

	next func() (line, bool, error)
	l    line // the next line of the file, where ok
	ok   bool
	last weburl.Key // of the last line that stays without an entry
}

// choose decides which lines stay. sound becomes false where the file or the index must change.
func (r *repair) choose(ctx context.Context, lines *sorter[line], stay *sorter[kept], sound *bool) error {
	next, err := lines.merged()
	if err != nil {
		return err
	}
	c := &choice{r: r, stay: stay, sound: sound, next: next}
	if err := c.step(); err != nil {
		return err
	}
	if err := r.s.scan(ctx, r.files.pages.note(kindPage), c.entry); err != nil {
		return err
	}
	for c.ok {
		if err := c.unindexed(); err != nil {
			return err
		}
	}
	return nil
}

func (c *choice) step() (err error) {
	c.l, c.ok, err = c.next()
	return err
}

// entry takes an entry of the index, after all lines up to its key.
func (c *choice) entry(k, v []byte) error {
	want, err := decodePage(k, v)
	if err != nil { // a line of its URL is one that the index does not lead to
		*c.sound = false
		c.r.broken = append(c.r.broken, bytes.Clone(k))
		return nil //nolint:nilerr // repaired later
	}
	var same []line
	for c.ok && bytes.Compare(c.l[:len(want.key)], want.key[:]) <= 0 {
		if c.l.key() != want.key {
			err = c.unindexed()
		} else {
			if len(same) < maxCopies {
				same = append(same, c.l)
			}
			err = c.step()
		}
		if err != nil {
			return err
		}
	}
	return c.r.chooseOne(&want, same, c.keep, c.sound)
}

// unindexed takes the next line, which has no entry: the first whole one of a page stays.
func (c *choice) unindexed() error {
	*c.sound = false
	if k := c.l.key(); k != c.last && c.l.whole() {
		page, job, err := c.r.s.isPage(k, c.r.files.pages.owners())
		if err != nil {
			return err
		}
		if page {
			c.last = k
			c.r.Indexed++
			delete(c.r.want[job], k)
			if err := c.keep(&c.l); err != nil {
				return err
			}
		}
	}
	return c.step()
}

func (c *choice) keep(l *line) error {
	var k kept
	binary.BigEndian.PutUint64(k[:], uint64(l.place().at))
	copy(k[8:], l[:])
	return c.stay.add(k)
}

// chooseOne decides which line of an indexed URL stays.
func (r *repair) chooseOne(want *pageAt, lines []line, keep func(*line) error, sound *bool) error {
	page, job, err := r.s.isPage(want.key, r.files.pages.owners())
	if err != nil {
		return err
	}
	best := -1
	for i := range lines {
		if l := &lines[i]; l.is(&want.place) && (best < 0 || l.place().at == want.at) {
			best = i
		}
	}
	flying, err := r.flying(want.key)
	switch {
	case err != nil:
		return err
	case !page && !flying: // its record belongs to no page
	case best >= 0:
		if len(lines) > 1 || lines[best].place().at != want.at || !want.summed {
			*sound = false
			if lines[best].place().at != want.at {
				r.Indexed++
			}
		}
		return keep(&lines[best])
	case page:
		r.wants(job, want.key)
	}
	*sound = false
	r.gone = append(r.gone, want.key)
	r.Forgotten++
	return nil
}

// flying reports whether the fetch of a URL is under way: its record is taken back when the crawl goes on.
func (r *repair) flying(k weburl.Key) (bool, error) {
	if r.air == nil {
		var err error
		if r.air, err = r.s.flying(r.files.pages.owners()); err != nil {
			return false, err
		}
	}
	return r.air[k], nil
}

// isPage reports whether a URL's outcome is a page, and of which job.
func (s *Store) isPage(k weburl.Key, of []jobNum) (page bool, job jobNum, err error) {
	for _, n := range of {
		uk := makeURLKey(n, k)
		_, err := s.get(uk[:], func(v []byte) error {
			var e entry
			err := e.decode(v)
			page = err == nil && e.isPage()
			return err
		})
		if page || err != nil {
			return page, n, err
		}
	}
	return false, 0, nil
}

// rewrite writes the lines that stay into a new file, sets the others aside, and builds the index anew.
func (r *repair) rewrite(ctx context.Context, stay *sorter[kept]) error {
	p := r.files.pages
	name := r.files.pages.Name()
	next, err := stay.merged()
	if err != nil {
		return err
	}
	k, ok, err := next()
	if err != nil {
		return err
	}
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	w, size := bufio.NewWriterSize(f, 1<<18), int64(0)
	index, err := newSorter(r.s.path("state"), rawLine)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer func() { _ = index.close() }()
	info, err := p.file.Stat()
	if err == nil {
		err = p.eachUnit(ctx, 0, info.Size(), func(at int64, unit, text []byte) error {
			if !ok || k.line().place().at != at {
				return r.aside.add(text)
			}
			pl := k.line().place()
			pl.at = size
			size += pl.length
			_, err := w.Write(unit)
			err = errors.Join(err, index.add(makeLine(k.line().key(), pl, true)))
			if err == nil {
				k, ok, err = next()
			}
			return err
		})
	}
	if err = errors.Join(err, w.Flush(), f.Sync(), f.Close(), r.aside.flush()); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return r.replace(ctx, f.Name(), size, index)
}

// replace puts the new file in place of the old one and commits its index. If the process dies in between, file and
// index do not match, and the repair must be run again.
func (r *repair) replace(ctx context.Context, file string, size int64, index *sorter[line]) error {
	// before the new entries: a line may be indexed under the key of a broken one
	if err := r.s.do(ctx, func(b *pebble.Batch) {
		for _, k := range r.broken {
			_ = b.Delete(k, nil)
		}
	}); err != nil {
		return err
	}
	if err := r.files.replace(&r.files.pages.file, file); err != nil {
		return err
	}
	if err := r.index(index); err != nil {
		return err
	}
	err := r.s.do(ctx, func(b *pebble.Batch) {
		for _, k := range r.gone {
			if !r.wanted(k) { // what could not be queued stays missing
				_ = b.Delete(r.files.pages.key(k), nil)
			}
		}
		_ = b.Set(r.files.pages.note(kindPageEnd), binary.AppendUvarint(nil, uint64(size)), nil)
	})
	r.files.pages.size.Store(size)
	return err
}

// index writes an entry for each line of the new file.
func (r *repair) index(lines *sorter[line]) error {
	next, err := lines.merged()
	if err != nil {
		return err
	}
	for l, ok, err := next(); ok || err != nil; l, ok, err = next() {
		if err != nil {
			return err
		}
		pl := l.place()
		if err := r.s.later(func(b *pebble.Batch) {
			_ = b.Set(r.files.pages.key(l.key()), pl.append(nil),
				nil)
		}); err != nil {
			return err
		}
		if r.written++; r.written%moveBatch == 0 {
			if err := r.s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
