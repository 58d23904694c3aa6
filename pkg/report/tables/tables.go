package tables

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Source is where the figures come from.
type Source struct {
	// Lines hands every line of the log to each, in whatever order.
	Lines func(ctx context.Context, each func(*crawl.LogLine) error) error
	// Open hands the key of every URL that is queued or in flight to each; nil: unknown.
	Open func(ctx context.Context, each func(weburl.Key) error) error
	// Seeds are the job's, as the crawl knows them.
	Seeds []weburl.URL
}

// Tables are the reports of a crawl. Close them.
type Tables struct {
	hosts        *spill
	hostRows     int64
	mime, status counts
	reasons      reasons
	seeds        seeds
	open         bool
	hostKey      [hostOfKey]byte
	host         *Host // whose lines are being read
	last         entry // outcome of the URL whose lines are being read; none: VerdictNone
}

// Make reads a crawl. Files are made in dir, and gone when it ends; "": where the system keeps temporary ones.
func Make(ctx context.Context, src Source, dir string) (_ *Tables, err error) {
	t := &Tables{hosts: newSpill(dir), mime: counts{}, status: counts{}, reasons: reasons{}, seeds: newSeeds(src.Seeds),
		open: src.Open != nil}
	lines := newSpill(dir)
	defer func() {
		if err = errors.Join(err, lines.close()); err != nil {
			err = errors.Join(fmt.Errorf("make the reports: %w", err), t.Close())
		}
	}()
	if err := t.read(ctx, src, lines); err != nil {
		return nil, err
	}
	var e entry
	err = lines.each(func(row []byte) error {
		if err := e.decode(row); err != nil {
			return err
		}
		return errors.Join(ctx.Err(), t.use(&e))
	})
	return t, errors.Join(err, t.endHost())
}

// read gathers the lines and the open URLs.
func (t *Tables) read(ctx context.Context, src Source, lines *spill) error {
	var row []byte
	n := uint64(0)
	err := src.Lines(ctx, func(l *crawl.LogLine) error {
		row = appendEntry(row[:0], l, n)
		n++
		return lines.add(row)
	})
	if err != nil || src.Open == nil {
		return err
	}
	return src.Open(ctx, func(k weburl.Key) error {
		row = appendOpen(row[:0], k)
		return lines.add(row)
	})
}

// use counts an entry; they come sorted.
func (t *Tables) use(e *entry) error {
	if e.key != t.last.key {
		t.endURL()
	}
	if e.open {
		t.openURL(e.key)
		return nil
	}
	if err := t.toHost(e); err != nil {
		return err
	}
	t.last.key = e.key
	t.host.request(e)
	if e.verdict.Final() && e.kind.InLedger() {
		t.last = *e
	}
	return nil
}

// toHost begins the row of an entry's host, if its lines are the first of it.
func (t *Tables) toHost(e *entry) error {
	u, err := weburl.ParseStored([]byte(e.url))
	if err != nil {
		return err
	}
	if t.host != nil && t.host.Host == u.HostKey() {
		return nil
	}
	if err := t.endHost(); err != nil {
		return err
	}
	t.host, t.hostKey = &Host{Host: u.HostKey()}, [hostOfKey]byte(e.key[:])
	if t.open {
		t.host.Remaining = new(int64)
	}
	return nil
}

// openURL counts a URL that waits; of a host that has no line yet nothing is told.
func (t *Tables) openURL(k weburl.Key) {
	if t.host != nil && [hostOfKey]byte(k[:]) == t.hostKey {
		*t.host.Remaining++
	}
}

// endURL counts what became of a URL.
func (t *Tables) endURL() {
	e := t.last
	t.last = entry{}
	if e.verdict == crawl.VerdictNone || t.host == nil {
		return
	}
	t.host.outcome(e.verdict)
	t.reasons.add(&e)
	t.seeds.outcome(&e)
	if e.status > 0 {
		t.status.add(strconv.Itoa(e.status), e.bytes)
		t.mime.add(e.contentType, e.bytes)
	}
}

// endHost keeps the row of a host.
func (t *Tables) endHost() error {
	t.endURL()
	if t.host == nil {
		return nil
	}
	t.host.finish()
	row, err := t.host.row()
	t.host, t.hostRows = nil, t.hostRows+1
	return errors.Join(err, t.hosts.add(row))
}

// Close frees what the reports hold.
func (t *Tables) Close() error { return t.hosts.close() }
