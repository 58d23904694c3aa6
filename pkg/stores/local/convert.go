package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// formatBefore is the oldest format that Open converts to the current one. Its job had no revisions, and it kept no
// text of excluded URLs.
const formatBefore = "whirlpool-state 2"

// formatKeys is the format whose keys are converted (rekey.go), and nothing else.
const formatKeys = "whirlpool-state 3"

// converting marks a directory whose conversion is under way: programs that know only the former format leave it alone.
const converting = format + " from "

// isPast reports whether a format is one that Open converts, or has begun to.
func isPast(v string) bool {
	v = strings.TrimPrefix(v, converting)
	return v == formatBefore || v == formatKeys
}

// beginConversion converts the keys of a former format before they are read.
func (s *Store) beginConversion(ctx context.Context, past string) error {
	if !isPast(past) {
		return nil
	}
	if !strings.HasPrefix(past, converting) {
		if err := writeFormat(s.dir, converting+past); err != nil {
			return err
		}
	}
	return s.rekey(ctx)
}

// endConversion does what is left of it when the parts of the store are open.
func (s *Store) endConversion(ctx context.Context, past string) error {
	if !isPast(past) {
		return nil
	}
	if strings.HasSuffix(past, formatBefore) {
		if err := s.convert(ctx); err != nil {
			return err
		}
	}
	return errors.Join(s.Sync(), writeFormat(s.dir, format))
}

// convertFailed says what to do about a conversion that failed.
func (s *Store) convertFailed(err error) error {
	if err != nil {
		err = fmt.Errorf("bring the state of crawl directory %s up to date: %w; nothing is lost, and the command can be "+
			"given again", s.dir, err)
	}
	return err
}

// jobBefore is the named value where formatBefore kept the job.
const jobBefore = "job"

// convert converts a state of formatBefore. It may be killed at any point and run again. It takes the texts of excluded
// URLs from crawl.log; URLs that are not in there stay excluded.
func (s *Store) convert(ctx context.Context) error {
	data, found, err := s.Meta().Get(ctx, jobBefore)
	if err != nil || !found {
		return err
	}
	job, err := crawl.DecodeJob(data, 1)
	if err != nil {
		return err
	}
	num, err := s.jobs.number(ctx, job.ID)
	if err != nil {
		return err
	}
	if err := s.leftOutOfLog(ctx, job.ID); err != nil {
		return err
	}
	if err := s.explainUnkept(ctx, num); err != nil {
		return err
	}
	if data, err = crawl.EncodeJob(job); err != nil {
		return err
	}
	value, err := json.Marshal(revision{At: time.Now().UTC(), Job: data})
	if err != nil {
		return err
	}
	err = s.do(ctx, func(b *pebble.Batch) {
		_ = b.Set(revisionKey(num, 1), value, nil)
		_ = b.Delete(stringKey(kindMeta, jobBefore), nil)
	})
	if err == nil {
		s.revisions, err = openRevisions(s)
	}
	return err
}

// reasonNotNoted stands for the reason, not stored by formatBefore, why a page has no record. Mostly the page asks not
// to be indexed.
const reasonNotNoted = "not-noted"

// explainUnkept stores reasonNotNoted for every page without a record. An audit would report such a page as lost
// otherwise.
func (s *Store) explainUnkept(ctx context.Context, job jobNum) error {
	flying, err := s.flying([]jobNum{job})
	if err != nil {
		return err
	}
	err = s.scan(ctx, appendJob(nil, kindURL, job), func(k, v []byte) error {
		var e entry
		if e.decode(v) != nil || len(k) != urlKeyLen {
			return fmt.Errorf("entry %x: %w", k, errEntry)
		}
		key := (*urlKey)(k).key()
		if !e.isPage() || flying[key] {
			return nil
		}
		stored, err := s.get(s.pages.key(key), func([]byte) error { return nil })
		if stored || err != nil {
			return err
		}
		return s.later(func(b *pebble.Batch) { _ = b.Set(makeUnkeptKey(job, key), []byte(reasonNotNoted), nil) })
	})
	return errors.Join(err, s.flush())
}

// convertBatch is how many lines of crawl.log are looked up at once.
const convertBatch = 1024

// leftOutOfLog keeps what crawl.log says of the URLs that are left out.
func (s *Store) leftOutOfLog(ctx context.Context, job crawl.JobID) error {
	name := s.path("crawl.log")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var list []crawl.LeftOut
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 256<<10), 1<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), excludedInLog) {
			continue
		}
		l, err := jsonl.ParseLogLine(lines.Bytes())
		if err != nil || l.Verdict != crawl.VerdictExcluded || l.Reason == crawl.ReasonScheme {
			continue // the last line may have been cut off
		}
		list = append(list, crawl.LeftOut{Reason: l.Reason,
			Task: crawl.Task{URL: l.URL, Kind: l.Kind, Depth: l.Depth, Referrer: l.Referrer}})
		if len(list) == convertBatch {
			if err := s.urls.keepAll(ctx, job, list); err != nil {
				return err
			}
			list = list[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return s.urls.keepAll(ctx, job, list)
}

// excludedInLog is in every line of a URL that was left out.
var excludedInLog = []byte(`"excluded"`)

// keepAll keeps what it takes to judge URLs again, of those that are left out.
func (u *URLs) keepAll(ctx context.Context, job crawl.JobID, list []crawl.LeftOut) error {
	return u.update(ctx, job, len(list), func(i int) weburl.Key { return list[i].Task.URL.Key() }, nil,
		func(sl *slot) error {
			if sl.before.leftOut() {
				sl.after, sl.write, sl.left = sl.before, true, &list[sl.arg]
			}
			return nil
		})
}
