package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// The commands answer about a cluster's job as they do about a directory.
func TestCommandsOverACluster(t *testing.T) {
	c := newCluster(t)
	dir := crawled(t) // what one machine found
	if text := c.must("status", "--cluster"); !strings.Contains(text, "no jobs") ||
		!strings.Contains(text, "none is connected") {
		t.Errorf("status of an empty cluster:\n%s", text)
	}
	c.startNode()
	file := newTarget(t, nil).args[2]
	if text := c.must("seed", "--cluster", "-c", file); !strings.Contains(text, "job test: 3 seeds queued") {
		t.Errorf("seed says %q", text)
	}
	r := c.run("status", "--cluster", "--wait")
	if r.exit != exitOK || !strings.Contains(r.stderr, " pages ") || !strings.Contains(r.stdout, "finished") {
		t.Fatalf("status --wait: exit status %d\n%s%s\nnode:\n%s", r.exit, r.stdout, r.stderr, c.log.String())
	}
	for _, step := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"status", func(t *testing.T) { checkClusterStatus(t, c, dir) }},
		{"explain", func(t *testing.T) {
			checkExplanations(t, func(t *testing.T, url string) report.Explanation {
				return decode[report.Explanation](t, c.must("explain", "--cluster", "--json", url))
			})
		}},
		{"explain a copy", func(t *testing.T) { checkClusterCopy(t, c) }},
		{"export", func(t *testing.T) { checkClusterExport(t, c, dir) }},
		{"log and reasons", func(t *testing.T) { checkClusterLog(t, c) }},
		{"search", func(t *testing.T) { checkClusterSearch(t, c) }},
		{"reports", func(t *testing.T) { checkClusterReports(t, c, dir) }},
		{"audit", func(t *testing.T) { checkSoundAudit(t, c) }},
		{"seed again", func(t *testing.T) {
			if text := c.must("seed", "--cluster", "-c", file); !strings.Contains(text, "0 seeds queued") {
				t.Errorf("seed again says %q", text)
			}
		}},
		{"replay", func(t *testing.T) { checkClusterReplay(t, c) }},
		{"pause, resume, stop", func(t *testing.T) { checkJobControl(t, c) }},
		{"planted damage", func(t *testing.T) { checkDamageIsNamed(t, c) }},
	} {
		t.Run(step.name, func(t *testing.T) {
			c.t = t
			step.run(t)
		})
	}
	c.t = t
}

func checkClusterStatus(t *testing.T, c *clusterUnderTest, dir string) {
	want := statusOf(t, dir)
	got := decode[report.Status](t, c.must("status", "--cluster", "--job", "test", "--json"))
	if got.State != report.StateFinished || got.Open != 0 || got.Queued != 0 || got.InFlight != 0 ||
		got.DeadLetters != 0 || got.Ended.IsZero() {
		t.Errorf("%s, %d open, %d queued, %d in flight, %d dead letters, ended %v; want a finished job", got.State, got.Open,
			got.Queued, got.InFlight, got.DeadLetters, got.Ended)
	}
	// Of the copies that come at once any may be the original, and only an original's links are followed twice: so the
	// counts of URLs agree.
	if got.Pages != want.Pages || got.Records == 0 && got.RecordsUnknown == "" || got.Records > got.Pages ||
		got.Claimed != want.Claimed {
		t.Errorf("%d pages, %d records, %d claimed; a directory has %d pages, %d claimed", got.Pages, got.Records,
			got.Claimed, want.Pages, want.Claimed)
	}
	for name, n := range want.Verdicts {
		if got.Verdicts[name] != n {
			t.Errorf("%d %s, in the directory %d", got.Verdicts[name], name, n)
		}
	}
	// Of several reasons the one that comes first is kept, and which link comes first is chance.
	if got, want := excludedOf(&got), excludedOf(&want); got != want {
		t.Errorf("%d left out, in the directory %d", got, want)
	}
	text := c.must("status", "--cluster", "--job", "test")
	for _, want := range []string{"cluster  ", "job            test, from http", "state          finished", "status codes",
		"frontier.outcome", "programs       ", ": node"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	checkClusterPipeline(t, c, got.Pages)
}

// checkClusterPipeline looks until the broker's statistics, which are some seconds old, have the programs' consumers.
func checkClusterPipeline(t *testing.T, c *clusterUnderTest, pages int64) {
	t.Helper()
	const topics = 9 // with those of the frontier, and that of renders
	for begin := time.Now(); ; {
		all := decode[report.ClusterStatus](t, c.must("status", "--cluster", "--json"))
		if len(all.Jobs) != 1 || all.Jobs[0].Job != "test" || all.Jobs[0].Pages != pages ||
			len(all.Pipeline.Topics) != topics || all.Pipeline.Hosts == 0 {
			t.Fatalf("status of the cluster: jobs %+v, pipeline %+v", all.Jobs, *all.Pipeline)
		}
		if all.Pipeline.Topics[0].Consumers == 1 {
			return
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("the first topic still has not one consumer: %+v", *all.Pipeline)
		}
	}
}

func checkClusterCopy(t *testing.T, c *clusterUnderTest) {
	url := c.text("SELECT url FROM fingerprints WHERE page_type = 1 LIMIT 1")
	of := c.text("SELECT o.url FROM fingerprints f JOIN fingerprints o ON o.page_id = f.content_id WHERE f.url = $1", url)
	e := decode[report.Explanation](t, c.must("explain", "--cluster", "--json", url))
	if e.Content == nil || e.Content.DuplicateOf.String() != of || e.Fingerprint == nil ||
		e.Fingerprint.DuplicateOf.String() != of || !strings.Contains(e.Answer, of) || len(e.Attempts) == 0 {
		t.Errorf("%s, a copy of %s, is explained as %+v", url, of, e)
	}
}

func checkClusterExport(t *testing.T, c *clusterUnderTest, dir string) {
	urls := func(csv string) []string {
		lines := strings.Split(strings.TrimSpace(csv), "\n")[1:]
		slices.Sort(lines)
		return lines
	}
	want := urls(must(t, "export", "-o", dir, "--columns", "url,status,title"))
	if got := urls(c.must("export", "--cluster", "--columns", "url,status,title")); !slices.Equal(got, want) {
		t.Errorf("the cluster exports %d pages, a directory %d, or others", len(got), len(want))
	}
	file := filepath.Join(t.TempDir(), "pages.parquet")
	c.must("export", "--cluster", "--job", "test", file)
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "PAR1") {
		t.Errorf("no Parquet file: %v", err)
	}
}

// checkSoundAudit is the control of checkDamageIsNamed.
func checkSoundAudit(t *testing.T, c *clusterUnderTest) {
	t.Helper()
	text := c.must("audit", "--cluster", "--job", "test")
	if strings.Contains(text, "WRONG") || strings.Count(text, "ok ") != 8 || strings.Contains(text, "not proven") {
		t.Errorf("audit says\n%s", text)
	}
	r := decode[crawl.AuditReport](t, c.must("audit", "--cluster", "--json"))
	if r.Cluster == nil || !r.Cluster.Still || r.Open != 0 || r.Done == 0 || r.Pages == 0 || r.Cluster.Copies == 0 ||
		r.Cluster.Unstored == 0 || r.Pages != r.Cluster.Originals+r.Cluster.Copies ||
		r.Pages+r.Cluster.Unstored != r.Cluster.Fetched {
		t.Errorf("audit: %+v, %+v", r, r.Cluster)
	}
}

func checkClusterReplay(t *testing.T, c *clusterUnderTest) {
	seed := parseURL(t, web.Web().Seeds()[0])
	page := crawl.Task{Job: "test", URL: seed, Seed: true}
	unseen := crawl.Task{Job: "test", URL: parseURL(t, seed.String()+"from-due"), Referrer: seed, Depth: 1}
	c.bury(1, &crawl.Claim{Batch: crawl.Batch{Job: "test", Tasks: []crawl.Task{unseen}}})
	c.bury(2, &crawl.Page{Task: page, Status: 200, ContentType: "text/html", Body: "swept"})
	c.bury(3, &crawl.Claim{Batch: crawl.Batch{Job: "another", Tasks: []crawl.Task{unseen}}})
	c.buryBytes(4, crawl.TopicFetch, []byte("no event"))
	letters := decode[[]report.Letter](t, c.must("replay", "--cluster", "--list", "--json"))
	if len(letters) != 4 || letters[0].Job != "test" || letters[0].Reason != "planted 1" ||
		string(letters[3].Event) != "null" {
		t.Fatalf("dead letters %+v", letters)
	}
	if text := c.must("replay", "--cluster", "--list"); !strings.Contains(text, "1 cannot be read") ||
		!regexp.MustCompile(`-\s+\S+\s+fetch\s+20\d\d-\S+Z\s+8\s+planted 4`).MatchString(text) {
		t.Errorf("queue, time and size of the letter that nobody can read are not in\n%s", text)
	}
	if text := c.must("replay", "--cluster", "--job", "test", "--topic", "due", "--dry-run"); strings.Count(text,
		"planted") != 1 {
		t.Errorf("the letters of one topic and job:\n%s", text)
	}
	if r := c.run("replay", "--cluster", "ffff"); r.exit != exitUsage || !strings.Contains(r.stderr, "ffff") {
		t.Errorf("a letter that is not there: exit status %d, %s", r.exit, r.stderr)
	}
	before := len(decode[report.Explanation](t, c.must("explain", "--cluster", "--json", seed.String())).Attempts)
	if r := c.run("replay", "--cluster", "--job", "test"); r.exit != exitOK || !strings.Contains(r.stderr, "2 of 3") {
		t.Errorf("replay: exit status %d, %s", r.exit, r.stderr)
	}
	c.must("status", "--cluster", "--wait")
	e := decode[report.Explanation](t, c.must("explain", "--cluster", "--json", unseen.URL.String()))
	if e.Ledger.State != "done" || e.Ledger.Status != 404 {
		t.Errorf("what was claimed by a replayed message was not fetched: %+v", e.Ledger)
	}
	e = decode[report.Explanation](t, c.must("explain", "--cluster", "--json", seed.String()))
	if len(e.Attempts) <= before || e.Ledger.State != "done" || e.Content == nil {
		t.Errorf("the page that was not parsed was not fetched again: %d attempts before, %+v", before, e)
	}
	letters = decode[[]report.Letter](t, c.must("replay", "--cluster", "--list", "--json"))
	if len(letters) != 2 || letters[0].Job != "another" || string(letters[1].Event) != "null" {
		t.Errorf("dead letters that are left: %+v", letters)
	}
	c.purgeDead()
}

func checkJobControl(t *testing.T, c *clusterUnderTest) {
	if r := c.run("pause", "--cluster", "--job", "test"); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "finished") {
		t.Errorf("pause of a finished job: exit status %d, %s", r.exit, r.stderr)
	}
	seeds := web.Web().Seeds()
	blacklist := filepath.Join(t.TempDir(), "blacklist") // it goes with the job: the programs never see the file
	if err := os.WriteFile(blacklist, []byte("elsewhere.test # never\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.must("seed", "--cluster", "--job", "slow", "--scope", "host", "--delay", "2s", "--no-sitemaps", "--ignore-robots",
		"--blacklist", blacklist, seeds[0])
	if err := os.Remove(blacklist); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"explain", "--cluster", seeds[0]}, {"audit", "--cluster"}, {"stop", "--cluster"}} {
		if r := c.run(args...); r.exit != exitUsage || !strings.Contains(r.stderr, "slow, test") {
			t.Errorf("%q with two jobs: exit status %d, %s", args, r.exit, r.stderr)
		}
	}
	if r := c.run("explain", "--cluster", "--job", "nobody", seeds[0]); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "slow, test") {
		t.Errorf("a job that is not there: exit status %d, %s", r.exit, r.stderr)
	}
	slow := func() report.Status {
		return decode[report.Status](t, c.must("status", "--cluster", "--job", "slow", "--json"))
	}
	poll(t, "a page of the slow job", func() bool { s := slow(); return s.Pages > 0 && s.Open > 0 })
	c.must("pause", "--cluster", "--job", "slow")
	if s := slow(); s.State != report.StatePaused {
		t.Errorf("state %s, want paused", s.State)
	}
	var r crawl.AuditReport
	poll(t, "a quiet pipeline, in which all is proven", func() bool { // the frontier hears of the pause within two seconds
		audit := c.run("audit", "--cluster", "--job", "slow", "--json")
		r = decode[crawl.AuditReport](t, audit.stdout)
		return audit.exit == exitOK && r.Cluster.Still && len(r.Cluster.Unproven) == 0
	})
	if r.Open == 0 || r.Queued < r.Open {
		t.Errorf("audit of a paused job: %+v, %+v", r, r.Cluster)
	}
	c.must("resume", "--cluster", "--job", "slow")
	if s := slow(); s.State != report.StateRunning {
		t.Errorf("state %s, want running", s.State)
	}
	c.must("stop", "--cluster", "--job", "slow")
	if r := c.run("status", "--cluster", "--job", "slow", "--wait"); r.exit != exitStopped ||
		!strings.Contains(r.stderr, "slow: stopped") {
		t.Errorf("waiting for a stopped job: exit status %d, %s", r.exit, r.stderr)
	}
}

// checkDamageIsNamed damages the stores by hand, one thing after the other, and wants each named.
func checkDamageIsNamed(t *testing.T, c *clusterUnderTest) {
	c.stopNode()
	records := c.pages.Collection("pages_test")
	var job int // the slow job's rows name some of the same URLs
	c.check(c.sql.QueryRow(context.Background(), "SELECT number FROM jobs WHERE id = 'test'").Scan(&job))
	original := func(skip int) string {
		return c.text(`SELECT url FROM fingerprints f WHERE job = $1 AND page_type = 0 AND NOT EXISTS
			(SELECT FROM fingerprints WHERE job = $1 AND content_id = f.page_id AND page_type > 0)
			ORDER BY page_id OFFSET $2 LIMIT 1`, job, skip)
	}
	deleteRecord := func(url string) {
		res, err := records.DeleteOne(context.Background(), bson.D{{Key: "_id", Value: parseURL(t, url).Key().String()}})
		if err != nil || res.DeletedCount != 1 {
			t.Fatalf("delete the record of %s: %v", url, err)
		}
	}
	insert := func(id, url string) {
		_, err := records.InsertOne(context.Background(),
			bson.D{{Key: "_id", Value: parseURL(t, id).Key().String()}, {Key: "url", Value: url}})
		c.check(err)
	}
	key := func(url string) []byte { k := parseURL(t, url).Key(); return k[:] }
	copyOf := c.text("SELECT url FROM fingerprints WHERE job = $1 AND page_type = 1 ORDER BY page_id LIMIT 1", job)
	missing, unprinted, reopened, bad := original(0), original(1), original(2), original(3)
	before := c.must("audit", "--cluster", "--job", "test")
	const stray, misfiled = "http://stray.test/", "http://misfiled.test/"
	for _, d := range []struct {
		url, says string
		harm      func()
	}{
		{"status 200", "counters are wrong", func() {
			c.exec(`UPDATE tallies SET n = n + 1 WHERE ctid =
				(SELECT ctid FROM tallies WHERE job = $1 AND counter = 'status' AND arg = '200' LIMIT 1)`, job)
		}},
		{missing, "records are not stored", func() { deleteRecord(missing) }},
		{unprinted, "have no fingerprint", func() {
			c.exec("DELETE FROM fingerprints WHERE job = $1 AND url = $2", job, unprinted)
		}},
		{reopened, "they are lost", func() {
			// Five more: the queues of the slow job may hold a task twice, and tasks are counted over all jobs.
			c.exec(`UPDATE urls SET state = 1 WHERE job = $1 AND state = 2 AND (url = $2 OR url IN (SELECT url FROM urls WHERE job = $1
				AND state = 2 AND verdict = (SELECT verdict FROM urls WHERE job = $1 AND url = $2) AND url <> ALL($3) ORDER BY url DESC LIMIT 5))`,
				job, reopened, []string{missing, unprinted, bad, copyOf})
		}},
		{bad, "none of the states", func() {
			c.exec("UPDATE urls SET verdict = 2 WHERE job = $1 AND url = $2 AND state = 2", job, bad)
		}},
		{copyOf, "name an original", func() {
			c.exec("UPDATE fingerprints SET content_id = $3 WHERE job = $1 AND url = $2", job, copyOf, key(stray))
		}},
		{stray, "nobody claimed", func() { insert(stray, stray) }},
		{misfiled, "the key of another URL", func() { deleteRecord(unprinted); insert(unprinted, misfiled) }},
	} {
		if strings.Contains(before, d.says) || names(before, d.url) {
			t.Errorf("before the damage to %s %q is reported already:\n%s", d.url, d.says, before)
		}
		d.harm()
		r := c.run("audit", "--cluster", "--job", "test")
		if r.exit != exitFailure || !strings.Contains(r.stdout, d.says) || !names(r.stdout, d.url) ||
			!strings.Contains(r.stderr, "not sound") {
			t.Errorf("%s, %q: exit status %d\n%s%s", d.url, d.says, r.exit, r.stdout, r.stderr)
		}
		before = r.stdout
	}
}

// names reports whether a text names something whole: a host's first page is the beginning of its others.
func names(text, what string) bool {
	return slices.ContainsFunc([]string{" ", "\n", ": "},
		func(end string) bool { return strings.Contains(text, what+end) })
}
