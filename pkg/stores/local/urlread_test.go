package local

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Entries are looked up one by one or by an iterator, as it is cheaper; both must answer alike, wherever an entry is.
func TestEntriesAreReadAlikeHoweverManyOfAHostAreAsked(t *testing.T) {
	ctx, s := context.Background(), openLoaded(t, t.TempDir())
	defer closeStore(t, s)
	var stored, none []weburl.URL
	for host := range 3 * manyOfHost {
		for page := range host + 1 {
			stored = append(stored, mustURL(t, fmt.Sprintf("http://host%d.test/%d", host, page)))
			none = append(none, mustURL(t, fmt.Sprintf("http://host%d.test/none/%d", host, page)))
		}
	}
	half := len(stored) / 2
	_, err := s.URLs().Claim(ctx, testJob, crawl.MessageID{1}, storetest.Tasks(testJob, stored[:half]...))
	must(t, err)
	must(t, s.db.Flush())
	_, err = s.URLs().Claim(ctx, testJob, crawl.MessageID{1}, storetest.Tasks(testJob, stored[half:]...))
	must(t, err)
	for i, u := range stored {
		if i%3 == 0 {
			must(t, s.URLs().Finish(ctx, testJob, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
		}
	}
	job, _ := s.jobs.find(testJob)
	all := slices.Concat(stored, none)
	slots := func() []slot { return makeSlots(job, len(all), func(i int) weburl.Key { return all[i].Key() }) }
	for name, read := range map[string]func([]slot) error{
		"as it is cheaper": func(sl []slot) error { return s.urls.read(sl, nil) },
		"one by one":       func(sl []slot) error { s.urls.ask(sl, nil); return s.urls.readEach(sl) },
		"by an iterator":   func(sl []slot) error { s.urls.ask(sl, nil); return s.urls.readAll(sl) },
		"without the filter": func(sl []slot) error {
			s.urls.filter.complete.Store(false)
			defer s.urls.filter.complete.Store(true)
			return s.urls.read(sl, nil)
		},
		"one host after the other": func(sl []slot) error {
			for len(sl) > 0 {
				n, _ := ofOneHost(sl)
				if err := s.urls.read(sl[:n], nil); err != nil {
					return err
				}
				sl = sl[n:]
			}
			return nil
		},
	} {
		got := slots()
		must(t, read(got))
		for i := range got {
			want := crawl.StateUnknown
			switch arg := got[i].arg; {
			case arg < len(stored) && arg%3 == 0:
				want = crawl.StateDone
			case arg < len(stored):
				want = crawl.StateOpen
			}
			if got[i].before.state != want {
				t.Errorf("%s: %s is %v, want %v", name, all[got[i].arg], got[i].before.state, want)
			}
		}
	}
}
