package local

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Census is what a job found, counted.
type Census struct {
	Records  int64
	Hosts    int64 // of URLs that were claimed
	Copies   int64 // pages whose content is that of another
	Clusters int64 // pages that others are near-duplicates of
}

// Census counts what a job found. It reads all of its entries: a second for a million URLs.
func (s *Store) Census(ctx context.Context, job crawl.JobID) (c Census, err error) {
	num, known := s.jobs.find(job)
	if !known {
		return c, nil
	}
	at, err := s.db.NewSnapshot()
	if err != nil {
		return c, fmt.Errorf("count what job %q found: %w", job, err)
	}
	defer func() { _ = at.Close() }()
	records := num
	if !s.Many() {
		records = 0
	}
	err = scanRange(ctx, at, appendJob(nil, kindPage, records), afterJob(kindPage, records),
		func(_, _ []byte) error { c.Records++; return nil })
	if err == nil {
		c.Hosts, err = countHosts(ctx, at, num)
	}
	if err == nil {
		err = c.countCopies(ctx, at, num)
	}
	if err != nil {
		err = fmt.Errorf("count what job %q found: %w", job, err)
	}
	return c, err
}

// countHosts counts the hosts of claimed URLs. The keys of a host's URLs begin alike.
func countHosts(ctx context.Context, at snapshot, num jobNum) (n int64, err error) {
	var last uint64
	err = scanRange(ctx, at, appendJob(nil, kindURL, num), afterJob(kindURL, num), func(k, v []byte) error {
		var e entry
		if e.decode(v) != nil || len(k) != urlKeyLen {
			return fmt.Errorf("entry %x: %w", k, errEntry)
		}
		if host := binary.BigEndian.Uint64(k[jobEnd:]); e.state != crawl.StateExcluded && (n == 0 || host != last) {
			n, last = n+1, host
		}
		return nil
	})
	return n, err
}

func (c *Census) countCopies(ctx context.Context, at snapshot, num jobNum) error {
	var from [contentPrefixSize]byte
	putContentPrefix(from[:], contentDocument, num)
	near := map[weburl.Key]bool{}
	err := scanRange(ctx, at, from[:], after(from[:]), func(_, v []byte) error {
		var d contentDoc
		if err := d.decode(v); err != nil {
			return err
		}
		switch d.seen.Sameness {
		case crawl.ExactCopy:
			c.Copies++
		case crawl.NearCopy:
			near[d.seen.Of.Key()] = true
		}
		return nil
	})
	c.Clusters = int64(len(near))
	return err
}
