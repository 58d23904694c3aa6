package local

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var (
	_ membus.Journal     = (*Journal)(nil)
	_ membus.DeadLetters = DeadLetters{}
)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestURLSet(t *testing.T) {
	storetest.URLSet(t, func(t *testing.T) crawl.URLSet { return openStore(t, t.TempDir()).URLs() })
}

func TestLedger(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerSet { return openStore(t, t.TempDir()).URLs() })
}

func TestLedgerVisits(t *testing.T) {
	storetest.LedgerVisits(t, func(t *testing.T) storetest.LedgerSet { return openStore(t, t.TempDir()).URLs() })
}

func TestHosts(t *testing.T) {
	storetest.Hosts(t, func(t *testing.T) crawl.Hosts { return openStore(t, t.TempDir()).Hosts() })
}

func TestRobots(t *testing.T) {
	storetest.Robots(t, func(t *testing.T) crawl.RobotsStore { return openStore(t, t.TempDir()).Hosts() })
}

func TestRedirects(t *testing.T) {
	storetest.Redirects(t, func(t *testing.T) (crawl.Redirects, func() crawl.Redirects) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Redirects(), func() crawl.Redirects {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Redirects()
		}
	})
}

func TestSpending(t *testing.T) {
	storetest.Spending(t, func(t *testing.T) (crawl.Spending, func() crawl.Spending) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Spending(), func() crawl.Spending {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Spending()
		}
	})
}

func TestBudgets(t *testing.T) {
	storetest.Budgets(t, func(t *testing.T) crawl.Budgets { return openStore(t, t.TempDir()).Budgets() })
}

func TestBodies(t *testing.T) {
	storetest.Bodies(t, func(t *testing.T) crawl.Bodies { return openStore(t, t.TempDir()).Bodies() })
}

func TestQueues(t *testing.T) {
	storetest.Queues(t, func(t *testing.T) (crawl.Queues, func() crawl.Queues) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Queues(), func() crawl.Queues {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Queues()
		}
	})
}

func TestUnkept(t *testing.T) {
	storetest.Unkept(t, func(t *testing.T) (storetest.UnkeptLedger, func() storetest.UnkeptLedger) {
		dir := t.TempDir()
		s := openStore(t, dir)
		of := func() storetest.UnkeptLedger { return storetest.UnkeptLedger{Unkept: s.Unkept(), Ledger: s.URLs()} }
		return of(), func() storetest.UnkeptLedger {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return of()
		}
	})
}

func TestPages(t *testing.T) {
	storetest.Pages(t, func(t *testing.T) (crawl.Pages, func(weburl.URL) []string) {
		p := openStore(t, t.TempDir()).Pages()
		return p, func(u weburl.URL) []string { return titlesOf(t, p, u) }
	})
}

func TestPackedPages(t *testing.T) {
	storetest.Pages(t, func(t *testing.T) (crawl.Pages, func(weburl.URL) []string) {
		p := openStore(t, packedDir(t)).Pages()
		return p, func(u weburl.URL) []string { return titlesOf(t, p, u) }
	})
}

// packedDir is an empty directory whose crawl compresses its records.
func packedDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, packedName), "")
	return dir
}

// titlesOf reads the titles of a URL's records from the file, and checks that the index agrees.
func titlesOf(t *testing.T, p *Pages, u weburl.URL) (titles []string) {
	t.Helper()
	for _, r := range records(t, p) {
		if r.URL == u {
			titles = append(titles, r.Title)
		}
	}
	line, found, err := p.PageLine(context.Background(), u.Key())
	if err != nil || found != (len(titles) > 0) {
		t.Errorf("index: found %v, error %v; the file holds %d records", found, err, len(titles))
	}
	if found {
		if r, err := jsonl.ParseRecord(line); err != nil || r.URL != u {
			t.Errorf("index leads to %q, error %v", line, err)
		}
	}
	return titles
}

func TestJobStore(t *testing.T) {
	storetest.JobStore(t, func(t *testing.T) (crawl.JobStore, func() crawl.JobStore) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Jobs(), func() crawl.JobStore {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Jobs()
		}
	})
}

func TestLeftOuts(t *testing.T) {
	storetest.LeftOuts(t, func(t *testing.T) storetest.LeftOutSet { return openStore(t, t.TempDir()).URLs() })
}

func TestEntryList(t *testing.T) {
	storetest.EntryList(t, func(t *testing.T) storetest.EntrySet { return openStore(t, t.TempDir()).URLs() })
}

func TestLogList(t *testing.T) {
	storetest.LogList(t, func(t *testing.T) storetest.LogSet { return openStore(t, t.TempDir()).AttemptLog() })
}

func TestRecordList(t *testing.T) {
	storetest.RecordList(t, func(t *testing.T) (crawl.Pages, crawl.RecordList) {
		p := openStore(t, t.TempDir()).Pages()
		return p, p
	})
}

func TestJars(t *testing.T) {
	storetest.Jars(t, func(t *testing.T) (crawl.Jars, func() crawl.Jars) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Jars(), func() crawl.Jars {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Jars()
		}
	})
}

func TestResources(t *testing.T) {
	storetest.Resources(t, func(t *testing.T, bound int64) (crawl.Resources, func() crawl.Resources) {
		dir := t.TempDir()
		s := openChecked(t, dir, bound)
		return s.Resources(), func() crawl.Resources {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openChecked(t, dir, bound)
			return s.Resources()
		}
	})
}

func TestTrials(t *testing.T) {
	storetest.Trials(t, func(t *testing.T) (crawl.HostTrials, func() crawl.HostTrials) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Trials(), func() crawl.HostTrials {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Trials()
		}
	})
}

func TestRenderStats(t *testing.T) {
	storetest.RenderStats(t, func(t *testing.T) (crawl.RenderStats, func() crawl.RenderStats) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.RenderStats(), func() crawl.RenderStats {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.RenderStats()
		}
	})
}
