package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// specBefore is a job as formatBefore kept it.
const specBefore = `{"ID":"old","Seeds":["http://a.test/"],"Scope":"host","MaxPages":7,"MaxDepth":1,"Politeness":{"Delay":"1.5s","HostConnections":1},"IgnoreMeta":true}`

// stateBefore makes a directory of formatBefore: its entries are what they are today, but it kept no revisions and no
// text of what was left out.
func stateBefore(t *testing.T) (dir string, left, dismissed, open weburl.URL) {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	s, err := Open(dir, Default())
	must(t, err)
	left, dismissed, open = mustURL(t, "http://a.test/left?x=1"), mustURL(t, "http://a.test/dismissed"),
		mustURL(t, "http://a.test/open")
	from := mustURL(t, "http://a.test/from")
	_, err = s.URLs().Exclude(ctx, "old", crawl.MessageID{1},
		[]crawl.Exclusion{{URL: left, Reason: crawl.ReasonDepth, Depth: 2, Referrer: from}})
	must(t, err)
	_, err = s.URLs().Claim(ctx, "old", crawl.MessageID{2},
		[]crawl.Task{{Job: "old", URL: dismissed}, {Job: "old", URL: open}})
	must(t, err)
	must(t, s.URLs().Finish(ctx, "old",
		crawl.Entry{Key: dismissed.Key(), Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonHostBudget}))
	now := time.Now()
	must(t, s.AttemptLog().Append(ctx,
		crawl.LogLine{At: now, URL: left, Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonDepth, Depth: 2,
			Referrer: from},
		crawl.LogLine{At: now, URL: dismissed, Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonHostBudget, Depth: 1,
			Referrer: from},
		crawl.LogLine{At: now, URL: open, Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonScope, Depth: 9,
			Referrer: from}))
	must(t, s.Meta().Put(ctx, jobBefore, []byte(specBefore)))
	must(t, s.do(ctx, func(b *pebble.Batch) {
		_ = b.DeleteRange([]byte{kindLeftOut}, []byte{kindLeftOut + 1}, nil)
	}))
	must(t, s.Close())
	must(t, os.WriteFile(filepath.Join(dir, "state", "format"), []byte(formatBefore+"\n"), 0o600))
	return dir, left, dismissed, open
}

func TestAStateOfTheFormatBeforeIsConverted(t *testing.T) {
	dir, left, dismissed, open := stateBefore(t)
	ctx := context.Background()
	for range 2 { // the second time it is of today's format
		s, err := Open(dir, Default())
		must(t, err)
		job, err := s.Jobs().Job(ctx, "old")
		if err != nil || job.MaxDepth != 1 || job.MaxPages != 7 || job.Epoch != 1 || !job.IgnoreMeta ||
			job.QueryVariants != 1000 || job.Politeness.Delay.D() != 1500*time.Millisecond {
			t.Fatalf("the job is %+v, %v", job, err)
		}
		list, err := s.URLs().LeftOut(ctx, "old", weburl.Key{}, 10)
		must(t, err)
		got := map[weburl.URL]crawl.LeftOut{}
		for _, l := range list {
			got[l.Task.URL] = l
		}
		if len(got) != 2 || got[left].Task.Depth != 2 || got[left].Task.Referrer.Path() != "/from" || got[left].Dismissed ||
			got[dismissed].Reason != crawl.ReasonHostBudget || !got[dismissed].Dismissed {
			t.Errorf("left out: %+v", list)
		}
		if _, found, err := s.URLs().WhyLeftOut(ctx, "old", open.Key()); found || err != nil {
			t.Errorf("%s, which is open, is left out: error %v", open, err)
		}
		tally, err := s.URLs().Tally(ctx, "old")
		if err != nil || tally.Claimed != 2 || tally.Excluded[crawl.ReasonDepth] != 1 {
			t.Errorf("tally %+v, %v", tally, err)
		}
		must(t, s.Close())
		if got, err := os.ReadFile(filepath.Join(dir, "state", "format")); err != nil ||
			strings.TrimSpace(string(got)) != format {
			t.Errorf("the format is %q, %v", got, err)
		}
	}
}

func TestAConversionThatFailedIsDoneAgain(t *testing.T) {
	dir, left, _, _ := stateBefore(t)
	log := filepath.Join(dir, "crawl.log")
	must(t, os.Rename(log, log+".away"))
	must(t, os.Mkdir(log, 0o700))
	if s, err := Open(dir, Default()); err == nil {
		must(t, s.Close())
		t.Fatal("a state without a log that can be read was opened")
	}
	must(t, os.Remove(log))
	must(t, os.Rename(log+".away", log))
	s := openStore(t, dir)
	if _, found, err := s.URLs().WhyLeftOut(context.Background(), "old", left.Key()); !found || err != nil {
		t.Errorf("%s: found %v, error %v", left, found, err)
	}
}
