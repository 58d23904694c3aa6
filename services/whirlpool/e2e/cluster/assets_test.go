package cluster_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wacztest"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// capturesOf are the URLs of a WACZ file that is as the specification wants it, each once.
func capturesOf(t testing.TB, file string) []string {
	all := slices.DeleteFunc(wacztest.Check(t, file).Captures,
		func(u string) bool { return strings.HasSuffix(u, "/robots.txt") })
	slices.Sort(all)
	return slices.Compact(all)
}

// A node of seven programs, whose fetcher is killed, fetches what pages are made of, and a copy to browse and a WACZ
// file of its archives are those of one machine.
func TestAssetsAndCopiesOfANode(t *testing.T) {
	long(t)
	ready(t)
	sites := crawltest.ServeAssetSites(t, "127.0.0.1", 4)
	alone, captures := sites.CopyAlone(t, filepath.Join(programs, "whirlpool"), capturesOf)
	all := int(sites.Requests.Swap(0))
	warc := filepath.Join(t.ArtifactDir(), "warc")
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), sites.Job(),
		"WHIRLPOOL_DISK_WARC="+warc)
	c.startSeven()
	c.seed()
	for i := range 3 {
		until(t, patience, "requests", func() bool { return int(sites.Requests.Load()) >= (i+1)*all/5 || c.stuck() })
		c.killed("fetcher", c.program("fetcher"))
	}
	c.wait()
	within(patience, c.settled)
	report(t, "final state", c.leftovers())
	c.whirlpool("audit", "--cluster", "--job", string(c.job.ID))
	for _, p := range c.programs {
		p.Stop(t)
	}
	to := filepath.Join(t.TempDir(), "copy")
	export := []string{"export", "--cluster", "--job", string(c.job.ID), "--warc", filepath.Join(warc, "e2e")}
	t.Log(c.whirlpool(append(export, "--format", "mirror", to)...))
	t.Log(c.whirlpool(append(export, to+".wacz")...))
	got := crawltest.ReadCopy(t, to)
	t.Logf("%d files, %d captures; %d requests of one machine, %d here", len(got), len(captures), all,
		sites.Requests.Load())
	report(t, "copy", alone.Differs(got))
	if here := capturesOf(t, to+".wacz"); !slices.Equal(here, captures) {
		t.Errorf("captures %q\nof one machine %q", here, captures)
	}
	if len(alone) < 4*30 {
		t.Errorf("%d files: the test proves little", len(alone))
	}
}
