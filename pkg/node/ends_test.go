package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// endsJob is a job that fetches what its nodes at provider name, and nothing else.
func endsJob(srv *fakeweb.Server, nodes ...crawl.PluginNode) *crawl.Job {
	job := jobFor(srv)
	job.Seeds, job.SeedsOnly, job.Pipeline.Nodes = nil, true, nodes
	return job
}

func when(n crawl.PluginNode, text string) crawl.PluginNode {
	n.When = text
	return n
}

func outputNode(file string, columns ...any) crawl.PluginNode {
	with := crawl.Settings{"file": file}
	if len(columns) > 0 {
		with["columns"] = columns
	}
	return nodeOf("out-"+strings.ToLower(strings.NewReplacer(".", "-").Replace(file)), crawl.AtOutput, "builtin/file@1",
		with)
}

// Each kind of provider gives its seeds, and a condition chooses among them.
func TestProviders(t *testing.T) {
	srv := serve(t, fakeweb.Plain(8, 60))
	all := t.TempDir()
	job := jobFor(srv)
	crawlAll(t, optionsFor(t, srv, job, all))
	var urls []string
	for u := range pagesIn(t, all) {
		urls = append(urls, u)
	}
	slices.Sort(urls)
	list := seedFile(t, urls[:10])
	host := pagesIn(t, all)[urls[0]].URL.HostKey()
	ofHost := slices.Collect(func(yield func(string) bool) {
		for _, u := range urls {
			if pagesIn(t, all)[u].URL.HostKey() == host && !yield(u) {
				return
			}
		}
	})
	anys := func(list []string) (out []any) {
		for _, s := range list {
			out = append(out, s)
		}
		return out
	}
	for name, c := range map[string]struct {
		nodes []crawl.PluginNode
		want  []string
	}{
		"urls": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/urls@1",
			crawl.Settings{"urls": anys(urls[3:7])})}, urls[3:7]},
		"list": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": list})},
			urls[:10]},
		"pages": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/pages@1", crawl.Settings{"dir": all})},
			urls},
		"of a host": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/pages@1",
			crawl.Settings{"dir": all, "hosts": []any{strings.ToUpper(host)}})}, ofHost},
		"of a status": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/pages@1",
			crawl.Settings{"dir": all, "status": []any{200.0}})}, urls},
		"that match": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/pages@1", crawl.Settings{"dir": all,
			"match": "^" + strings.NewReplacer(".", `\.`, "?", `\?`).Replace(urls[5]) + "$"})}, urls[5:6]},
		"a condition": {[]crawl.PluginNode{when(nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": list}),
			fmt.Sprintf("seed.url == %q", urls[4]))}, urls[4:5]},
		"two": {[]crawl.PluginNode{nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": list}),
			nodeOf("b", crawl.AtProvider, "builtin/urls@1", crawl.Settings{"urls": anys(urls[8:13])})}, urls[:13]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			crawlAll(t, optionsFor(t, srv, endsJob(srv, append(c.nodes, outputNode("all.csv", "url"))...), dir))
			got := slices.Collect(func(yield func(string) bool) {
				for u := range pagesIn(t, dir) {
					if !yield(u) {
						return
					}
				}
			})
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %d: %q\nwant %d: %q", len(got), got, len(c.want), c.want)
			}
			if rows := sortedRows(t, dir, "all.csv"); len(rows) != len(c.want)+2 {
				t.Errorf("%d rows of %d pages", len(rows)-2, len(c.want))
			}
		})
	}
}

// Faults name the key of the node, and nothing is stored of the job then.
func TestFaultsOfEnds(t *testing.T) {
	srv := serve(t, fakeweb.Plain(2, 5))
	fifo := t.TempDir()
	for i, c := range []struct {
		n    crawl.PluginNode
		want string
	}{
		{nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": "/nothing/there"}),
			"pipeline.nodes[0].with.file (node a)"},
		{nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": fifo}), "is no file"},
		{nodeOf("a", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": "/dev/zero"}), "is no file"},
		{nodeOf("a", crawl.AtProvider, "builtin/pages@1", crawl.Settings{"dir": fifo}),
			"pipeline.nodes[0].with.dir (node a)"},
		{nodeOf("a", crawl.AtProvider, "builtin/pages@1", crawl.Settings{"execution": "x-1"}),
			"only `whirlpool serve` has executions"},
		{nodeOf("a", crawl.AtProvider, "builtin/sitemap@1", crawl.Settings{"url": "https://a.test/"}),
			"seeds_only follows nothing"},
		{when(nodeOf("a", crawl.AtProvider, "builtin/urls@1", crawl.Settings{"urls": []any{"https://a.test/"}}),
			"seed.uri == 1"), "when"},
		{nodeOf("a", crawl.AtProvider, "builtin/lang@1", crawl.Settings{"keep": []any{"en"}}),
			"builtin/lang@1 does not serve the point provider"},
		{nodeOf("a", crawl.AtProvider, "shop/x@1.0.0", nil), "come with the program"},
		{crawl.PluginNode{ID: "a", At: crawl.AtProvider, Use: "builtin/urls@1", OnError: crawl.OnErrorDrop,
			With: crawl.Settings{"urls": []any{"https://a.test/"}}}, "pipeline.nodes[0].on_error"},
		{outputNode("x.csv", "url", "titel"), `pipeline.nodes[0].with.columns (node out-x-csv) column "titel" is unknown`},
		{outputNode("x.csv", "url", "url"), "stands twice"},
		{nodeOf("a", crawl.AtOutput, "builtin/file@1", crawl.Settings{"file": "../x.csv"}), "lies in no directory"},
		{when(outputNode("x.csv"), "record.langs == 1"), "when"},
		{nodeOf("a", crawl.AtRecord, "builtin/file@1", crawl.Settings{"file": "x.csv"}), "does not serve the point record"},
	} {
		job := jobFor(srv)
		job.SeedsOnly, job.Pipeline.Nodes = true, []crawl.PluginNode{c.n}
		dir := filepath.Join(t.TempDir(), "d")
		_, err := node.OpenLocal(t.Context(), optionsFor(t, srv, job, dir))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v\nwant %s", i, err, c.want)
		}
	}
	job := jobFor(srv)
	job.Pipeline.Nodes = []crawl.PluginNode{outputNode("x.csv"), outputNode("X.csv")}
	job.Pipeline.Nodes[1].ID = "other"
	if errs := node.CheckEnds(job, node.InDirectory); len(errs) != 1 ||
		!strings.Contains(errs[0].Error(), "node out-x-csv writes it too") {
		t.Errorf("one file of two: %v", errs)
	}
	if errs := node.CheckEnds(job, node.InCluster); len(errs) != 1 ||
		!strings.Contains(errs[0].Error(), "node out-x-csv writes it too") {
		t.Errorf("in a cluster: %v", errs)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "outputs", "x.csv")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	job.Pipeline.Nodes = job.Pipeline.Nodes[:1]
	if _, err := node.OpenLocal(t.Context(), optionsFor(t, srv, job, dir)); err == nil ||
		!strings.Contains(err.Error(), "pipeline.nodes[0].with.file (node out-x-csv)") {
		t.Errorf("somebody's file: %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("it holds %q now", data)
	}
	opt := optionsFor(t, srv, job, t.TempDir())
	opt.NoRecords = true
	if _, err := node.OpenLocal(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "no records are stored") {
		t.Errorf("without records: %v", err)
	}
}

// An output that is added when the crawl has ended has all records, and one with other columns is written anew. Their
// conditions and copies are as the settings say.
func TestOutputsThatComeLater(t *testing.T) {
	srv := serve(t, fakeweb.Plain(8, 200))
	job, dir := jobFor(srv), t.TempDir()
	run := func(nodes ...crawl.PluginNode) {
		t.Helper()
		next := *job
		next.Pipeline.Nodes = nodes
		crawlAll(t, optionsFor(t, srv, &next, dir))
	}
	run(outputNode("table.csv", "url"))
	pages := pagesIn(t, dir)
	first := sortedRows(t, dir, "table.csv")
	deep := 0
	for _, r := range pages {
		if r.Depth > 1 {
			deep++
		}
	}
	run(outputNode("table.csv", "url", "title", "bytes"),
		when(outputNode("deep.jsonl"), "record.depth > 1 and delivery.job == \"test\""))
	if why := faultyOutput(t, dir); why != "" {
		t.Error(why)
	}
	if rows := sortedRows(t, dir, "deep.jsonl"); len(rows) != deep+1 || deep == 0 {
		t.Errorf("%d rows, want %d", len(rows)-1, deep)
	}
	run(outputNode("table.csv", "url"))
	if again := sortedRows(t, dir, "table.csv"); !slices.Equal(again, first) {
		t.Errorf("%d rows, want %d as before", len(again), len(first))
	}
	packed := t.TempDir()
	next := *job
	next.Pipeline.Nodes = []crawl.PluginNode{outputNode("table.csv", "url")}
	opt := optionsFor(t, srv, &next, packed)
	opt.Store.Compress = true
	crawlAll(t, opt)
	if rows := sortedRows(t, packed, "table.csv"); !slices.Equal(rows, first) {
		t.Errorf("compressed: %d rows, want %d", len(rows), len(first))
	}
}

// On a server, a revision of a job that runs adds a provider and an output, and a job that was stopped has its rows.
func TestEndsOfARevision(t *testing.T) {
	srv := serve(t, fakeweb.Plain(40, 400))
	e, _ := runEngine(t, srv, t.TempDir())
	seeds := srv.Web().Seeds()
	job := jobFor(srv)
	job.Seeds, job.Politeness.Delay = seeds[:1], crawl.Duration(30*time.Millisecond)
	submit(t, e, job)
	next := *job
	next.Pipeline.Nodes = []crawl.PluginNode{
		nodeOf("more", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": seedFile(t, seeds)}),
		outputNode("table.csv", "url", "title", "bytes")}
	if _, err := e.Revise(t.Context(), &next); err != nil {
		t.Fatal(err)
	}
	dir := e.JobDir(job.ID)
	waitEnds(t, "the output grows", func() bool {
		info, err := os.Stat(filepath.Join(dir, "outputs", "table.csv"))
		return err == nil && info.Size() > 200
	})
	waitEnds(t, "the figures tell it", func() bool {
		figures := e.Figures(job.ID)
		return len(figures) == 2 && figures[0].Node == "more" && figures[0].Calls > 0 && figures[1].Calls > 0
	})
	if err := e.Stop(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	waitEnds(t, "all that was stored is in it", func() bool { return faultyOutput(t, dir) == "" })
	bad := next
	bad.Pipeline.Nodes = []crawl.PluginNode{nodeOf("x", crawl.AtProvider, "builtin/pages@1",
		crawl.Settings{"dir": "/tmp"})}
	if _, err := e.Revise(t.Context(), &bad); err == nil || !crawl.IsPermanent(err) ||
		!strings.Contains(err.Error(), "(node x)") {
		t.Errorf("a directory on a server: %v", err)
	}
	bad.Pipeline.Nodes[0].With = crawl.Settings{"execution": "nobody-1"}
	if _, err := e.Revise(t.Context(), &bad); err == nil || !strings.Contains(err.Error(), "there is no such execution") {
		t.Errorf("an execution that is none: %v", err)
	}
}

func waitEnds(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + ": it did not come to that")
		}
	}
}

// A list that cannot be read keeps an execution from its end, which says so; when it is back, it is read on.
func TestAProviderThatIsAway(t *testing.T) {
	srv := serve(t, fakeweb.Plain(5, 40))
	dir := t.TempDir()
	list := filepath.Join(dir, "seeds.txt.gz")
	if err := os.WriteFile(list, []byte("\x1f\x8b\x08 no gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _ := runEngine(t, srv, dir)
	job := endsJob(srv, nodeOf("list", crawl.AtProvider, "builtin/list@1", crawl.Settings{"file": list}))
	submit(t, e, job)
	waitEnds(t, "it says so", func() bool {
		s, _, err := e.State(t.Context(), job.ID)
		return err == nil && !s.Ended && strings.Contains(s.Fault, "node list")
	})
	if err := os.WriteFile(list, []byte(strings.Join(srv.Web().Seeds(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	waitEnds(t, "it ends", func() bool { s, _, err := e.State(t.Context(), job.ID); return err == nil && s.Ended })
	if n := len(pagesIn(t, e.JobDir(job.ID))); n != len(srv.Web().Seeds()) {
		t.Errorf("%d pages of %d seeds", n, len(srv.Web().Seeds()))
	}
}

// A crawl whose output cannot be written goes on, and ends when it can be.
func TestAnOutputThatCannotBeWritten(t *testing.T) {
	srv := serve(t, fakeweb.Plain(5, 40))
	dir := t.TempDir()
	job := jobFor(srv)
	job.Pipeline.Nodes = []crawl.PluginNode{outputNode("table.csv", "url", "title", "bytes")}
	l, err := node.OpenLocal(t.Context(), optionsFor(t, srv, job, dir))
	if err != nil {
		t.Fatal(err)
	}
	inTheWay := filepath.Join(dir, "outputs")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool, 1)
	go func() {
		done, err := l.Crawl(context.Background())
		ended <- done && err == nil
	}()
	waitEnds(t, "all is fetched", func() bool { return l.Frontier().Stats().Queued == 0 && len(pagesIn(t, dir)) > 20 })
	select {
	case <-ended:
		t.Error("it ended without its output")
	case <-time.After(300 * time.Millisecond):
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if !<-ended {
		t.Error("it did not end well")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if why := faultyOutput(t, dir); why != "" {
		t.Error(why)
	}
}
