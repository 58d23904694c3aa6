package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var (
	_ crawl.EntryList  = (*URLs)(nil)
	_ crawl.RecordList = (*Pages)(nil)
)

// page reads up to limit entries of the database behind a key, below another.
func (s *Store) page(ctx context.Context, after, below []byte, limit int, use func(k, v []byte) error) error {
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: append(after, 0), UpperBound: below})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && limit > 0 && err == nil; ok = it.Next() {
		err = use(it.Key(), it.Value())
		limit--
	}
	return errors.Join(err, it.Close())
}

// EntriesAfter implements crawl.EntryList. Entries have no URLs: they are told of pages with a record and of what was
// left out.
func (u *URLs) EntriesAfter(ctx context.Context, job crawl.JobID, after weburl.Key,
	limit int) (list []crawl.LedgerRow, err error) {
	num, known := u.s.jobs.find(job)
	if !known {
		return nil, nil
	}
	from := makeURLKey(num, after)
	err = u.s.page(ctx, from[:], afterJob(kindURL, num), limit, func(k, v []byte) error {
		var e entry
		if len(k) != urlKeyLen || e.decode(v) != nil {
			return fmt.Errorf("entry %x of the ledger is damaged", k)
		}
		key := urlKey(k)
		list = append(list, crawl.LedgerRow{Entry: e.public(key.key())})
		return nil
	})
	for i := range list {
		if err == nil {
			err = u.tellURL(ctx, job, &list[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("entries of job %q: %w", job, err)
	}
	return list, nil
}

// tellURL completes a row with its URL, where that is kept, and with the reason why its page has no record.
func (u *URLs) tellURL(ctx context.Context, job crawl.JobID, row *crawl.LedgerRow) error {
	reasons, err := u.s.Unkept().Reasons(ctx, job, row.Key)
	if err != nil {
		return err
	}
	row.Unkept = reasons[0]
	left, found, err := u.WhyLeftOut(ctx, job, row.Key)
	if err != nil || found {
		row.URL = left.Task.URL
		return err
	}
	files, err := u.s.filesOf(ctx, job)
	if err != nil {
		return err
	}
	line, found, err := files.pages.PageLine(ctx, row.Key)
	if err != nil || !found {
		return err
	}
	r, err := jsonl.ParseRecord(line)
	if err == nil {
		row.URL = r.URL
	}
	return err
}

// RecordsAfter implements crawl.RecordList.
func (p *Pages) RecordsAfter(ctx context.Context, after weburl.Key, limit int) (list []*crawl.Record, err error) {
	for len(list) < limit {
		var keys []weburl.Key
		_, end := p.index()
		err := p.s.page(ctx, p.key(after), end, limit-len(list), func(k, v []byte) error {
			at, err := decodePage(k, v)
			keys = append(keys, at.key)
			return err
		})
		if err != nil || len(keys) == 0 {
			return list, err
		}
		for _, k := range keys {
			line, found, err := p.PageLine(ctx, k)
			if err != nil {
				return nil, err
			}
			if !found { // taken back meanwhile
				continue
			}
			r, err := jsonl.ParseRecord(line)
			if err != nil {
				return nil, fmt.Errorf("record %s: %w", k, err)
			}
			list = append(list, r)
		}
		after = keys[len(keys)-1]
	}
	return list, nil
}
