package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// patience is for what would never end.
const patience = 5 * time.Minute

const adminKey = "wpk_admin000_0123456789012345678901234567890123456789012"

// programs builds the node and the api, once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "whirlpool-api-")
	if err != nil {
		return "", err
	}
	return dir, errors.Join(harness.BuildOne(dir+"/whirlpool", "../whirlpool"), harness.BuildOne(dir+"/api", "."))
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := programs(); err == nil && os.Getenv("WHIRLPOOL_TEST_SERVICES") != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

// world is a node on the real services, with vhosts and databases of its own, and copies of the api.
type world struct {
	t    *testing.T
	dir  string
	exes string
	env  []string
	name string // of its databases
}

func newWorld(t *testing.T) *world {
	t.Helper()
	servicetest.Postgres(t) // or the test is skipped
	exes, err := programs()
	harness.Check(t, err)
	rb := rabbittest.Config(t)
	name := "whirlpool_api_" + strings.ToLower(rand.Text()[:10])
	w := &world{t: t, dir: t.TempDir(), exes: exes, name: name}
	w.env = append(os.Environ(), "WHIRLPOOL_RABBITMQ_MANAGEMENT_URL="+rb.Management,
		"WHIRLPOOL_POSTGRES_URL="+database(t, name), "WHIRLPOOL_MONGODB_URL="+servicetest.MongoDB(t),
		"WHIRLPOOL_MONGODB_DATABASE="+name, "WHIRLPOOL_MEMCACHED_ADDRESSES=", "WHIRLPOOL_ZOOKEEPER_ADDRESSES=",
		"WHIRLPOOL_DISK_LIMIT=1", "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0",
		"WHIRLPOOL_PPROF_LISTEN=", "WHIRLPOOL_CONFIG=", "WHIRLPOOL_LOG_FORMAT=json", "WHIRLPOOL_API_ADMIN_KEY="+adminKey)
	for section, address := range map[string]string{"SUBSYSTEMS": rb.Subsystems, "FRONTIER": rb.Frontier} {
		u, err := url.Parse(address)
		harness.Check(t, err)
		password, _ := u.User.Password()
		w.env = append(w.env, "WHIRLPOOL_RABBITMQ_"+section+"_VHOST="+strings.Trim(u.Path, "/"),
			"WHIRLPOOL_RABBITMQ_"+section+"_USER="+u.User.Username(), "WHIRLPOOL_RABBITMQ_"+section+"_PASSWORD="+password,
			"WHIRLPOOL_RABBITMQ_URL=amqp://"+u.Host)
	}
	return w
}

// database makes a database that goes when the test ends, and its pages with it.
func database(t *testing.T, name string) string {
	address := databasetest.New(t, servicetest.Postgres(t), name)
	pages, err := mongo.Connect(options.Client().ApplyURI(servicetest.MongoDB(t)))
	harness.Check(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(pages.Database(name).Drop(ctx), pages.Disconnect(ctx)); err != nil {
			t.Error(err)
		}
	})
	return address
}

// start starts a program; what it is called is the name of its log.
func (w *world) start(name, exe string, args, env []string) *harness.Process {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	harness.Check(w.t, os.MkdirAll(dir, 0o700))
	p := &harness.Process{Name: name, Exe: filepath.Join(w.exes, exe), Args: args, Log: filepath.Join(dir, "log"),
		Env: append(slices.Clone(w.env), append(env, "WHIRLPOOL_DISK_SPOOL="+filepath.Join(w.dir, "spool"))...)}
	p.Start(w.t)
	w.t.Cleanup(p.CleanUp)
	return p
}

// copyOf starts a copy of the api, and returns a client of it.
func (w *world) copyOf(name string) (*harness.Process, *client.Client) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	harness.Check(w.t, err)
	at := l.Addr().String()
	harness.Check(w.t, l.Close())
	p := w.start(name, "api", nil, []string{"WHIRLPOOL_API_LISTEN=" + at, "WHIRLPOOL_API_URL=http://" + at,
		"WHIRLPOOL_API_DIR=" + filepath.Join(w.dir, name, "cache")})
	c, err := client.New("http://"+at, adminKey)
	harness.Check(w.t, err)
	harness.Until(w.t, patience, name+" answers", func() bool {
		me, err := c.Me(w.t.Context())
		return err == nil && me.Role == "admin"
	})
	return p, c
}

// site is a small site.
func site(t *testing.T, pages int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil && r.URL.Path != "/" || n >= pages {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>page %d</title><p>words of page %d", n, n)
		for i := range 3 {
			fmt.Fprintf(w, `<a href="/%d">x</a>`, 3*n+i+1)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// An execution that has ended is widened: a cluster goes on with its job at once, and so does the execution.
func TestARevisionOfAnEndedExecution(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	const pages = 30
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\nmax_depth: 1\npoliteness: {delay: 10ms}\n",
		site(t, pages)+"/")
	_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	e, err := c.Run(t.Context(), "shop", workflow.Overrides{})
	harness.Check(t, err)
	ended := func(attempt int) *api.ExecutionNow {
		t.Helper()
		now, err := c.Execution(t.Context(), e.ID)
		harness.Until(t, patience, fmt.Sprint("it ends, attempt ", attempt), func() bool {
			now, err = c.Execution(t.Context(), e.ID)
			harness.Check(t, err)
			return now.State.Ended() && now.Attempt >= attempt
		})
		return now
	}
	first := ended(1)
	if first.Stats == nil || first.Stats.Pages != 4 {
		t.Fatalf("to depth 1 it found %+v", first.Stats)
	}
	_, err = c.Revise(t.Context(), e.ID, api.NewRevision{Edit: api.Edit{Patch: map[string]any{"max_depth": 9}}})
	harness.Check(t, err)
	if now := ended(first.Attempt + 1); now.State != workflow.Succeeded || now.Stats.Pages != pages || now.Audit == nil ||
		!now.Audit.OK {
		t.Errorf("widened it ended as %s (%s), %+v, audit %+v", now.State, now.Reason, now.Stats, now.Audit)
	}
}

// A preview of a job of the cluster says what an edit does to what is queued, left out and fetched, and any copy of the
// program tells it; what the edit lets in is then crawled.
func TestAPreviewOfAnEdit(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	_, other := w.copyOf("two")
	const pages = 13 // 0 leads to 1, 2 and 3, those to 4 to 12
	run := func(slug, more string) *workflow.Execution {
		source := fmt.Sprintf(`{id: %s, seeds: [%s/], allow_private: true, ignore_robots: true, sitemaps: false, politeness: {delay: 0s}, %s}`,
			slug, site(t, pages), more)
		_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: slug})
		harness.Check(t, err)
		e, err := c.Run(t.Context(), slug, workflow.Overrides{})
		harness.Check(t, err)
		return e
	}
	previewed := func(id crawl.JobID, patch map[string]any) preview.Answer {
		t.Helper()
		p, err := c.Preview(t.Context(), id, api.Edit{Patch: patch})
		harness.Check(t, err)
		harness.Until(t, patience, "the preview is exact, also by the other copy", func() bool {
			p, err = other.PreviewNow(t.Context(), id, p.ID)
			harness.Check(t, err)
			return p.State == "exact"
		})
		return p.Answer
	}
	// The one is crawled to its end; of the other, one page is fetched, and three wait for its budget to be raised.
	ended, waits := run("ended", "exclude: ['/7$', '/8$']"), run("waits", "max_pages: 1")
	now := func(id crawl.JobID) *api.ExecutionNow {
		x, err := c.Execution(t.Context(), id)
		harness.Check(t, err)
		return x
	}
	harness.Until(t, patience, "it ends", func() bool { return now(ended.ID).State.Ended() })
	all := map[string]any{"exclude": []string{}}
	if a := previewed(ended.ID, all); a.LeftOut.Admits.URLs != 2 || a.LeftOut.Stays.URLs != 0 ||
		a.Fetched.Stays.URLs != pages-2 || a.Queued.Stays.URLs+a.Queued.Drops.URLs != 0 {
		t.Errorf("of nothing left out: %+v", a)
	}
	if a := previewed(ended.ID, map[string]any{"exclude": []string{"/1[0-2]$", "/7$"}}); a.LeftOut.Admits.URLs != 1 ||
		a.LeftOut.Stays.URLs != 1 || a.Fetched.Drops.URLs != 3 {
		t.Errorf("of others left out: %+v", a)
	}
	harness.Until(t, patience, "the budget of the other is spent", func() bool {
		a := previewed(waits.ID, map[string]any{"exclude": []string{"/none$"}})
		return a.Queued.Stays.URLs == 3 && a.Fetched.Stays.URLs == 1
	})
	a := previewed(waits.ID, map[string]any{"exclude": []string{"/2$"}})
	if a.Queued.Drops.URLs != 1 || a.Queued.Stays.URLs != 2 || a.Fetched.Stays.URLs != 1 {
		t.Errorf("of what waits: %+v", a)
	}
	if _, err := c.Preview(t.Context(), waits.ID, api.Edit{Patch: map[string]any{"exclude": []string{"("}}}); err == nil {
		t.Error("a preview of a pattern that is none")
	}
	_, err := c.Revise(t.Context(), ended.ID, api.NewRevision{Edit: api.Edit{Patch: all}})
	harness.Check(t, err)
	harness.Until(t, patience, "it goes on and ends", func() bool {
		x := now(ended.ID)
		return x.State.Ended() && x.Attempt > 1
	})
	if x := now(ended.ID); x.Stats.Pages != pages {
		t.Errorf("it found %d pages", x.Stats.Pages)
	}
}

// The one that conducts is killed in the middle of an execution: the other goes on within ten seconds, and the
// execution ends as if nothing had been.
func TestTheConductorIsKilled(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	one, first := w.copyOf("one")
	one.AwaitLog(t, "this program conducts")
	two, second := w.copyOf("two")
	const pages = 60
	seed := site(t, pages) + "/"
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\npoliteness: {delay: 50ms}\n", seed)
	_, err := first.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	e, err := second.Run(t.Context(), "shop", workflow.Overrides{})
	harness.Check(t, err)
	state := func() workflow.State {
		now, err := second.Execution(t.Context(), e.ID)
		harness.Check(t, err)
		return now.State
	}
	harness.Until(t, patience, "it runs", func() bool { return state() == workflow.Running })
	if two.Said("this program conducts") {
		t.Fatal("two conduct at once")
	}
	one.Kill(t)
	killed := time.Now()
	two.AwaitLog(t, "this program conducts")
	took := time.Since(killed)
	if took > 10*time.Second {
		t.Errorf("the other went on after %v", took)
	}
	t.Logf("the other went on after %v", took)
	harness.Until(t, patience, "it ends", func() bool { return state().Ended() })
	now, err := second.Execution(t.Context(), e.ID)
	harness.Check(t, err)
	if now.State != workflow.Succeeded || now.Stats == nil || now.Stats.Pages != pages || now.Stats.Records != pages ||
		now.Audit == nil || !now.Audit.OK {
		t.Errorf("%s (%s): %+v, audit %+v", now.State, now.Reason, now.Stats, now.Audit)
	}
	found := 0
	if !harness.Within(time.Minute, func() bool {
		l, err := second.Records(t.Context(), e.ID, url.Values{"q": {"words"}, "limit": {"200"}})
		harness.Check(t, err)
		found = len(l.Items)
		return found == pages
	}) {
		out, _ := exec.Command("bash", "-c", "ls -laR "+filepath.Join(w.dir, "two")+"; head -c 300 "+filepath.Join(w.dir,
			"two", "cache", "executions", "*", "crawl.log")).CombinedOutput()
		t.Errorf("%d of %d records are found: %s\n%s", found, pages, two.LastWords(), out)
	}
	story, err := second.View(e.ID).Explain(t.Context(), seed)
	harness.Check(t, err)
	if len(story.Attempts) == 0 {
		t.Errorf("explained %+v", story)
	}
}

// A dry run of a cluster tries a page that is given, with the job's rules and what is stored of it; it asks no host.
func TestADryRunOfAGivenPage(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	seed := site(t, 4) + "/"
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\nexclude: ['/3$']\npoliteness: {delay: 0s}\n", seed)
	_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	e, err := c.Run(t.Context(), "shop", workflow.Overrides{})
	harness.Check(t, err)
	harness.Until(t, patience, "it ends", func() bool {
		now, err := c.Execution(t.Context(), e.ID)
		harness.Check(t, err)
		return now.State.Ended()
	})
	tried, err := c.DryRun(t.Context(), api.DryRun{URL: seed + "new", Execution: string(e.ID), Depth: 1,
		Body: `<title>new</title><p>words <a href="/1">known</a> <a href="/3">excluded</a> <a href="/other">fresh</a>`})
	harness.Check(t, err)
	if tried.Parse == nil || tried.Parse.Title != "new" || len(tried.Links) != 3 {
		t.Fatalf("tried: %+v", tried)
	}
	verdicts := map[string]bool{}
	for _, l := range tried.Links {
		verdicts[strings.TrimPrefix(l.URL.String(), seed)] = l.Followed
	}
	if !verdicts["other"] || verdicts["3"] {
		t.Errorf("links: %+v", tried.Links)
	}
}
