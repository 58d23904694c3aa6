package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// asked is how many paths were asked for.
func (s *tree) count() int { return len(s.since(time.Time{})) }

func (c *clusterUnderTest) awaitRequests(s *tree, n int) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); s.count() < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%d paths were asked for, want %d\nnode:\n%s", s.count(), n, c.log.String())
		}
	}
}

// jobsNow is what `whirlpool jobs` lists.
func (c *clusterUnderTest) jobsNow() []control.Listed {
	c.t.Helper()
	return decode[[]control.Listed](c.t, c.must("jobs", "--cluster", "--json"))
}

// A job that is deleted while it runs leaves nothing, and the next one of that id finds what it would have found
// without it.
func TestAJobIsDeletedInMidCrawlAndBegunAnew(t *testing.T) {
	c := newCluster(t)
	c.startNode()
	first, second := newTree(t), newTree(t)
	c.seedTree(first, "again", "--delay", "50ms", "--max-depth", "4") // 341 pages
	c.awaitRequests(first, 30)
	if r := c.run("delete", "again", "--cluster"); r.exit != exitUsage || !strings.Contains(r.stderr, "whirlpool stop") {
		t.Errorf("a job that runs: exit status %d, %s", r.exit, r.stderr)
	}
	text := c.must("seed", "--fresh", "--cluster", "--job", "again", second.URL+"/", "--no-sitemaps", "--near-duplicate",
		"-1", "--delay", "0s", "--max-depth", "3")
	begun := time.Now()
	if !strings.Contains(text, "job again deleted: ") || !strings.Contains(text, "rows of urls") ||
		!strings.Contains(text, "1 seed queued") {
		t.Errorf("seed --fresh says %q", text)
	}
	c.awaitPages("again", 85)
	if paths := first.since(begun); len(paths) > 0 {
		t.Errorf("%q of the first life were asked for after the second had begun", paths)
	}
	if paths := slices.DeleteFunc(second.since(time.Time{}),
		func(p string) bool { return p == "/robots.txt" }); len(paths) != 85 {
		t.Errorf("%d pages were asked for, want 85", len(paths))
	}
	c.must("audit", "--cluster", "--job", "again")
	checkNothingOf(t, c, first)
	if list := c.jobsNow(); len(list) != 1 || list[0].ID != "again" || list[0].State != "ended" || list[0].Pages != 85 ||
		list[0].Open != 0 || list[0].Epoch != 2 {
		t.Errorf("jobs: %+v", list)
	}
	if s := decode[report.ClusterStatus](t, c.must("status", "--cluster", "--json")); s.Pipeline.DeadLetters != 0 {
		t.Errorf("%d dead letters", s.Pipeline.DeadLetters)
	}
}

// checkNothingOf fails where anything of a site is stored.
func checkNothingOf(t *testing.T, c *clusterUnderTest, s *tree) {
	t.Helper()
	for table, column := range map[string]string{"urls": "url", "attempts": "url", "fingerprints": "url"} {
		if n := c.text(fmt.Sprintf(`SELECT count(*)::text FROM %s WHERE %s LIKE $1`, table, column), s.URL+"%"); n != "0" {
			t.Errorf("%s rows of %s are left", n, table)
		}
	}
	names, err := c.pages.ListCollectionNames(t.Context(), bson.D{})
	c.check(err)
	if !slices.Contains(names, "pages_again.2") { // the second life's
		t.Errorf("collections %q", names)
	}
	for _, name := range names {
		n, err := c.pages.Collection(name).CountDocuments(t.Context(),
			bson.D{{Key: "url", Value: bson.D{{Key: "$regex", Value: "^" + s.URL}}}})
		if c.check(err); n != 0 {
			t.Errorf("%d records are left in %s", n, name)
		}
	}
}

// What a job's budget left in the queues goes with the job.
func TestAJobThatEndedByItsBudgetIsDeleted(t *testing.T) {
	c := newCluster(t)
	c.startNode()
	s := newTree(t)
	c.seedTree(s, "budget", "--delay", "0s", "--max-depth", "5", "--max-pages", "40")
	c.awaitPages("budget", 40)
	if n := c.queued(); n == 0 {
		t.Fatal("nothing is left in the queues: the test proves nothing")
	}
	c.must("delete", "budget", "--cluster")
	for deadline := time.Now().Add(patience); c.queued() > 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d tasks are left in the queues\nnode:\n%s", c.queued(), c.log.String())
		}
	}
	if n := s.count(); n != 41 { // with robots.txt
		t.Errorf("%d paths were asked for, want 41", n)
	}
	if list := c.jobsNow(); len(list) != 0 {
		t.Errorf("jobs: %+v", list)
	}
	if r := c.run("delete", "budget", "--cluster"); r.exit == exitOK {
		t.Errorf("deleted twice: %s", r.stdout)
	}
}

func (c *clusterUnderTest) queued() int64 {
	c.t.Helper()
	s := decode[report.ClusterStatus](c.t, c.must("status", "--cluster", "--json"))
	return s.Pipeline.Frontier.Front + s.Pipeline.Frontier.Back + s.Pipeline.Frontier.Later
}
