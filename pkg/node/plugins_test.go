package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// madeHere are plug-ins whose answers functions give, beside the built-in ones.
type madeHere map[string]func(ctx context.Context, call *plugin.Call) (*plugin.Answer, error)

// Plugin implements plugin.Source.
func (m madeHere) Plugin(_ context.Context, use, _ string) (plugin.Plugin, error) {
	if p, ok := builtin.Plugin(use); ok {
		return p, nil
	}
	answer, ok := m[use]
	if !ok {
		return nil, fmt.Errorf("there is no plug-in %s", use)
	}
	d := &plugin.Descriptor{Name: use}
	for _, at := range crawl.Points() {
		d.Serves = append(d.Serves, plugin.Serves{Point: at, Needs: []string{plugin.NeedsText, plugin.NeedsBody}})
	}
	return &plugged{d, answer}, nil
}

type plugged struct {
	d      *plugin.Descriptor
	answer func(ctx context.Context, call *plugin.Call) (*plugin.Answer, error)
}

func (p *plugged) Descriptor() *plugin.Descriptor { return p.d }
func (p *plugged) Close() error                   { return nil }
func (p *plugged) Configure(context.Context, crawl.Point, map[string]any) (plugin.Instance, error) {
	return p, nil
}
func (p *plugged) Handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
	return p.answer(ctx, call)
}

func nodeOf(id string, at crawl.Point, use string, with crawl.Settings) crawl.PluginNode {
	return crawl.PluginNode{ID: id, At: at, Use: use, With: with}
}

func fieldsOf(r *crawl.Record) map[string]any {
	out := map[string]any{}
	for _, f := range r.Fields {
		out[f.Name] = f.Value
	}
	return out
}

// A pipeline with a node at every point of a page does what its nodes say, and records and log say so.
func TestAPipelineOfBuiltInNodes(t *testing.T) {
	srv := serve(t, fakeweb.Plain(6, 200))
	job := jobFor(srv)
	job.Pipeline.Nodes = []crawl.PluginNode{
		nodeOf("client", crawl.AtRequest, "builtin/header@1", crawl.Settings{"set": map[string]any{"X-Client": "whirl"}}),
		nodeOf("half", crawl.AtResponse, "builtin/sample@1", crawl.Settings{"share": 0.9}),
		nodeOf("title", crawl.AtDocument, "builtin/map@1",
			crawl.Settings{"set": map[string]any{"big": "upper(doc.title)", "words": `len(split(doc.text, " "))`}}),
		nodeOf("deep", crawl.AtLinks, "builtin/filter@1",
			crawl.Settings{"drop": `links.depth >= 1 and link.url contains "section-2"`, "reason": "too-deep"}),
		nodeOf("odd", crawl.AtRecord, "builtin/filter@1",
			crawl.Settings{"keep": `record.fields.words == nil or int(record.fields.words) % 3 != 0`}),
	}
	dir := t.TempDir()
	crawlAll(t, optionsFor(t, srv, job, dir))
	pages, outcomes := pagesIn(t, dir), outcomesIn(t, dir)
	if len(pages) < 30 {
		t.Errorf("%d pages: the test proves little", len(pages))
	}
	reasons := map[string]int{}
	for url, o := range outcomes {
		reasons[o.Reason]++
		if o.Reason == "plugin:deep" && o.Detail == "" && o.Verdict != crawl.VerdictExcluded {
			t.Errorf("%s: %+v", url, o)
		}
		if r := pages[url]; r != nil {
			delete(outcomes, url)
			if got := strings.Join(r.Plugins, " "); !strings.HasPrefix(got,
				"client=builtin/header@1 half=builtin/sample@1 title=builtin/map@1") ||
				!strings.HasSuffix(got, "odd=builtin/filter@1") {
				t.Errorf("%s went through %s", url, got)
			}
			if f := fieldsOf(r); r.DuplicateOf.IsZero() && (f["big"] != strings.ToUpper(r.Title) || f["words"] == nil) {
				t.Errorf("%s: %v", url, f)
			}
		}
	}
	for _, why := range []string{"plugin:half", "plugin:deep", "plugin:odd"} {
		if reasons[why] == 0 {
			t.Errorf("no URL has the reason %s: %v", why, reasons)
		}
	}
}

// Whatever a plug-in does, the crawl goes on and each page is handled once.
func TestPluginsThatMisbehave(t *testing.T) {
	srv := serve(t, fakeweb.Plain(4, 120))
	long := strings.Repeat("x", 2<<20)
	bad := madeHere{
		"x/loops@1.0.0": func(ctx context.Context, _ *plugin.Call) (*plugin.Answer, error) {
			<-ctx.Done()
			return nil,
				ctx.Err()
		},
		"x/fails@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) { return nil, errors.New("no") },
		"x/panic@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) { panic("no") },
		"x/large@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Text: &long}}, nil
		},
		"x/types@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.LinksPatch{}}, nil
		},
	}
	job := jobFor(srv)
	for use := range bad {
		id, _, _ := strings.Cut(strings.TrimPrefix(use, "x/"), "@")
		job.Pipeline.Nodes = append(job.Pipeline.Nodes,
			crawl.PluginNode{ID: id, At: crawl.AtDocument, Use: use, Timeout: crawl.Duration(time.Millisecond)})
	}
	plain, dir := t.TempDir(), t.TempDir()
	crawlAll(t, optionsFor(t, srv, jobFor(srv), plain))
	opt := optionsFor(t, srv, job, dir)
	opt.Plugins = bad
	crawlAll(t, opt)
	want, got := pagesIn(t, plain), pagesIn(t, dir)
	if len(got) != len(want) {
		t.Errorf("%d pages, want %d", len(got), len(want))
	}
	for url, r := range got {
		if want[url] == nil || r.Text != want[url].Text || len(r.PluginErrors) != len(bad) || len(r.Plugins) > 0 {
			t.Errorf("%s: %v %v", url, r.Plugins, r.PluginErrors)
		}
	}
}

// A plug-in that is swapped while the crawl runs: each record names one version, and none is missing.
func TestAPluginIsSwappedInARunningCrawl(t *testing.T) {
	pages := harness.Number(t, "WHIRLPOOL_E2E_PAGES", harness.Fewer(1500))
	srv := serve(t, fakeweb.Plain(pages/75, pages))
	var calls atomic.Int64
	var second sync.Once
	begun := make(chan struct{})
	source := madeHere{
		"x/v@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			if calls.Add(1) == int64(pages)/8 {
				second.Do(func() { close(begun) })
			}
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.RecordPatch{Fields: map[string]any{"v": "1.0.0"}}}, nil
		},
		"x/v@1.1.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.RecordPatch{Fields: map[string]any{"v": "1.1.0"}}}, nil
		},
	}
	dir := t.TempDir()
	log := logOf(t)
	opt := engineOptions(log, srv.DNSAddr(), dir)
	opt.Plugins = source
	e, stop := runEngineOf(t, opt)
	job := jobFor(srv)
	job.ID = "swap"
	job.Pipeline.Nodes = []crawl.PluginNode{nodeOf("v", crawl.AtRecord, "x/v@1.0.0", nil)}
	submit(t, e, job)
	<-begun
	next := *job
	next.Pipeline.Nodes = []crawl.PluginNode{nodeOf("v", crawl.AtRecord, "x/none@1.0.0", nil)}
	if _, err := e.Revise(t.Context(), &next); err == nil || !strings.Contains(err.Error(), "x/none@1.0.0") ||
		!strings.Contains(err.Error(), "pipeline.nodes[0]") {
		t.Errorf("a revision whose plug-in is not there: %v", err)
	}
	next.Pipeline.Nodes = []crawl.PluginNode{nodeOf("v", crawl.AtRecord, "x/v@1.1.0", nil)}
	if changes, err := e.Revise(t.Context(), &next); err != nil || len(changes) != 1 ||
		changes[0].Key != "pipeline.nodes" {
		t.Fatalf("%v, %v", changes, err)
	}
	awaitEnd(t, e, "swap")
	sound(t, e, "swap")
	stop()
	count := map[string]int{}
	for url, r := range pagesIn(t, filepath.Join(dir, "executions", "swap")) {
		version := strings.TrimPrefix(strings.Join(r.Plugins, " "), "v=x/v@")
		count[version]++
		epoch := map[string]uint32{"1.0.0": 1, "1.1.0": 2}[version]
		if r.DuplicateOf.IsZero() && fieldsOf(r)["v"] != version || epoch != max(r.Epoch, 1) {
			t.Errorf("%s: %v, %v, revision %d", url, r.Plugins, fieldsOf(r), r.Epoch)
		}
	}
	t.Logf("records by version: %v", count)
	if count["1.0.0"] < pages/8 || count["1.1.0"] < pages/8 || len(count) != 2 {
		t.Errorf("records by version: %v", count)
	}
}

// A node with on_error stop pauses the job, which says why and goes on when it is let.
func TestOnErrorStopPausesTheJob(t *testing.T) {
	srv := serve(t, fakeweb.Plain(3, 60))
	var broken atomic.Bool
	broken.Store(true)
	opt := engineOptions(logOf(t), srv.DNSAddr(), t.TempDir())
	opt.Plugins = madeHere{"x/n@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		if broken.Load() {
			return nil, errors.New("the model is not there")
		}
		return &plugin.Answer{Action: plugin.Pass}, nil
	}}
	e, stop := runEngineOf(t, opt)
	job := jobFor(srv)
	job.ID = "held"
	job.Pipeline.Nodes = []crawl.PluginNode{{ID: "n", At: crawl.AtRecord, Use: "x/n@1.0.0", OnError: crawl.OnErrorStop}}
	submit(t, e, job)
	await(t, "the job is held", func() bool { return stateOf(t, e, "held").Held })
	if s := stateOf(t, e, "held"); !strings.Contains(s.HeldBy, "the model is not there") ||
		!strings.Contains(s.HeldBy, "node n") {
		t.Errorf("it is held by %q", s.HeldBy)
	}
	broken.Store(false)
	if err := e.Hold(t.Context(), "held", false); err != nil {
		t.Fatal(err)
	}
	await(t, "the job has ended", func() bool {
		s := stateOf(t, e, "held")
		if s.Held { // a message that failed before came again
			if err := e.Hold(t.Context(), "held", false); err != nil {
				t.Fatal(err)
			}
		}
		return s.Ended
	})
	sound(t, e, "held")
	stop()
}

// So does a crawl in a directory, whose only job is paused as a user would do it.
func TestOnErrorStopSaysWhyItPaused(t *testing.T) {
	srv := serve(t, fakeweb.Plain(3, 6))
	var broken atomic.Bool
	broken.Store(true)
	job := jobFor(srv)
	job.Pipeline.Nodes = []crawl.PluginNode{{ID: "n", At: crawl.AtRecord, Use: "x/n@1.0.0", OnError: crawl.OnErrorStop}}
	opt := optionsFor(t, srv, job, t.TempDir())
	opt.Plugins = madeHere{"x/n@1.0.0": func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		if broken.Load() {
			return nil, errors.New("the model is not there")
		}
		return &plugin.Answer{Action: plugin.Pass}, nil
	}}
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := l.Crawl(t.Context())
		ended <- errors.Join(err, l.Close())
	}()
	await(t, "the crawl is paused", l.Paused)
	if why := l.PausedFor(); !strings.Contains(why, "the model is not there") || !strings.Contains(why, "node n") {
		t.Errorf("it is paused for %q", why)
	}
	broken.Store(false)
	await(t, "the crawl has ended", func() bool {
		l.Pause(false) // a message that failed before may come again
		return len(ended) > 0
	})
	if err := <-ended; err != nil || l.PausedFor() != "" {
		t.Errorf("%v; it is paused for %q", err, l.PausedFor())
	}
}
