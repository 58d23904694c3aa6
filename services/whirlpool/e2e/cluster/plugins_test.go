package cluster_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// swapDelay makes a crawl last so long that a swap comes in its midst: a host is asked some thirty times, and a command
// takes half a second, or as much longer as the machine is slower.
func swapDelay(t *testing.T) time.Duration {
	return harness.Times(harness.Slowness(t), 120*time.Millisecond)
}

// plug makes the plug-in shop/v of some versions, each of which says its version in a field, and allows it to crawls.
func (c *cluster) plug(versions ...string) {
	c.t.Helper()
	for _, v := range versions {
		c.whirlpool("plugin", "push", "--untested", "--cluster", wasmtest.Version(c.t, "shop/v@"+v, v))
		c.whirlpool("plugin", "approve", "--cluster", "shop/v@"+v)
	}
}

// through has the pages of the job go through a version of the plug-in.
func (c *cluster) through(version string) {
	c.job.Pipeline = crawl.Pipeline{Nodes: []crawl.PluginNode{{ID: "v", At: crawl.AtDocument, Use: "shop/v@" + version}}}
}

// refused gives the cluster its job with a version of the plug-in that it must refuse.
func (c *cluster) refused(version, why string) {
	c.t.Helper()
	c.through(version)
	code, text := c.exitCode("seed", "-c", crawltest.WriteJob(c.t, c.Dir, c.job), "--job", string(c.job.ID), "--cluster")
	if code == 0 || !strings.Contains(text, why) {
		c.t.Errorf("shop/v@%s is not refused: %d, %s; want %q", version, code, text, why)
	}
}

// gap is the longest time between two pages that content-seen took, of those in a time.
func (c *cluster) gap(from, to time.Time) (longest time.Duration, pages int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	db, err := pgx.Connect(ctx, c.Ledger)
	check(c.t, err)
	defer func() { _ = db.Close(ctx) }()
	rows, err := db.Query(ctx, "SELECT claimed FROM fingerprints WHERE claimed BETWEEN $1 AND $2 ORDER BY claimed", from,
		to)
	check(c.t, err)
	at, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	check(c.t, err)
	for i := 1; i < len(at); i++ {
		longest = max(longest, at[i].Sub(at[i-1]))
	}
	return longest, len(at)
}

// A plug-in is swapped while eight programs, two parsers among them, crawl: each record names one version, that of its
// revision, and none is missing.
func TestAPluginIsSwappedAcrossPrograms(t *testing.T) {
	w := serveSlowly(t, swapDelay(t))
	c := newCluster(t, w.Srv, w.Job(), "WHIRLPOOL_PLUGINS_STORE=postgres",
		"WHIRLPOOL_PLUGINS_DIR="+filepath.Join(t.TempDir(), "plugins"))
	c.plug("1.0.0", "1.1.0")
	c.refused("9.9.9", "pipeline.nodes[0].use there is no plug-in shop/v@9.9.9: of shop/v there are 1.0.0, 1.1.0")
	c.startSeven()
	c.add("parser2", filepath.Join(programs, "parser"), nil).Start(t)
	c.through("1.0.0")
	c.seed()
	c.refused("2.0.0", "shop/v@2.0.0") // which changes nothing of the job that runs
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= w.Requests/5 || c.stuck() })
	c.through("1.1.0")
	swap := time.Now()
	c.seed()
	took := time.Since(swap)
	c.wait()
	c.judge(w)
	faults, records := c.Swapped(c.job.ID, "1.0.0", "1.1.0")
	report(t, "plug-ins", faults)
	if records["1.0.0"] == 0 || records["1.1.0"] == 0 {
		t.Errorf("the swap came before or after the crawl: it shows nothing: %v", records)
	}
	const around = 3 * time.Second
	before, n := c.gap(swap.Add(-around), swap)
	after, m := c.gap(swap.Add(-around/10), swap.Add(took+around))
	t.Logf("records by version %v; the longest time between two pages: %v before the swap (%d pages), %v around it (%d "+
		"pages); seed took %v",
		records, before, n, after, m, took)
	if most := before + harness.Times(c.Slowness, time.Second); after > most {
		t.Errorf("around the swap no page came for %v: want %v at most", after, most)
	}
}

// The repository of plug-ins cannot be asked when the programs need a version that they have not loaded: pages wait,
// the job is not paused, and nothing is lost. Then the version in use is disabled: on_error holds from then on, and
// each record says which pages went through it.
func TestTheRepositoryOfPluginsGoesAway(t *testing.T) {
	w := serveSlowly(t, swapDelay(t))
	c := newCluster(t, w.Srv, w.Job(), "WHIRLPOOL_PLUGINS_STORE=postgres",
		"WHIRLPOOL_PLUGINS_DIR="+filepath.Join(t.TempDir(), "plugins"))
	c.plug("1.0.0")
	c.startSeven()
	c.through("1.0.0")
	c.seed()
	requests := func(part int) {
		t.Helper()
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= w.Requests/part || c.stuck() })
	}
	requests(10)
	c.whirlpool("pause", "--cluster", "--job", string(c.job.ID))
	// The frontier looks every two seconds: a page that it leases before it has seen the pause may be the new revision's,
	// and load the version before the repository goes away.
	until(t, patience, "the pause", func() bool { return c.inLogs(`"state":"paused"`) > 0 || c.ended() || c.stuck() })
	c.plug("0.9.0") // older than what is in use: no program gets it ready by itself
	c.through("0.9.0")
	c.seed()
	crawltest.SQL(t, c.Ledger, "ALTER TABLE plugins RENAME TO plugins_away")
	c.whirlpool("resume", "--cluster", "--job", string(c.job.ID))
	until(t, patience, "a page that waits",
		func() bool { return c.inLogs("cannot be asked just now") > 0 || c.ended() || c.stuck() })
	crawltest.SQL(t, c.Ledger, "ALTER TABLE plugins_away RENAME TO plugins")
	requests(4)
	c.whirlpool("plugin", "disable", "--cluster", "--why", "it is a test", "shop/v@0.9.0")
	c.wait()
	c.judge(w)
	var through, around int
	check(t, c.Mongo.Job(c.job.ID).Each(t.Context(), func(r *crawl.Record) error {
		want := []string{"v=shop/v@1.0.0"}
		if crawl.EpochOf(r.Epoch) == 2 {
			want = []string{"v=shop/v@0.9.0"}
		}
		switch {
		case slices.Equal(r.Plugins, want) && len(r.PluginErrors) == 0:
			through++
		case crawl.EpochOf(r.Epoch) == 2 && len(r.Plugins) == 0 && slices.Equal(r.PluginErrors, []string{"v"}):
			around++
		default:
			t.Errorf("%s, of revision %d, went through %q, and %q failed", r.URL, r.Epoch, r.Plugins, r.PluginErrors)
		}
		return nil
	}))
	t.Logf("%d pages went through the plug-in, %d around it", through, around)
	if through == 0 || around == 0 {
		t.Error("the test shows nothing")
	}
}

// The control: a parser that keeps to the pipeline that the job began with is found.
func TestNegativeControlAParserKeepsTheOldPipeline(t *testing.T) {
	w := serveSlowly(t, swapDelay(t))
	c := newCluster(t, w.Srv, w.Job(), "WHIRLPOOL_PLUGINS_DIR="+filepath.Join(t.TempDir(), "plugins"))
	c.plug("1.0.0", "1.1.0")
	c.startSeven()
	c.startBroken(faultStale)
	c.through("1.0.0")
	c.seed()
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= w.Requests/5 || c.stuck() })
	// so that pages are left, however slowly the commands start
	c.whirlpool("pause", "--cluster", "--job", string(c.job.ID))
	c.through("1.1.0")
	c.seed()
	c.whirlpool("resume", "--cluster", "--job", string(c.job.ID))
	var faults []string
	until(t, patience, "a fault", func() bool {
		faults, _ = c.Swapped(c.job.ID, "1.0.0", "1.1.0")
		return len(faults) > 0 || c.ended() || c.stuck()
	})
	if len(faults) == 0 {
		t.Error("nothing is wrong with the records, though a parser kept to the old pipeline")
	}
}
