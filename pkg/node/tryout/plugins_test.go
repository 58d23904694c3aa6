package tryout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
)

// source has the built-in plug-ins, and one that always fails.
type source struct{}

func (source) Plugin(_ context.Context, use, _ string) (plugin.Plugin, error) {
	if use == "test/fails@1" {
		return failing{}, nil
	}
	if p, ok := builtin.Plugin(use); ok {
		return p, nil
	}
	return nil, fmt.Errorf("use: there is no plug-in %s", use)
}

type failing struct{ plugin.Plugin }

func (failing) Descriptor() *plugin.Descriptor {
	return &plugin.Descriptor{Name: "test/fails", Version: "1", Tier: plugin.Builtin,
		Serves: []plugin.Serves{{Point: crawl.AtDocument}, {Point: crawl.AtRequest}}}
}
func (f failing) Configure(context.Context, crawl.Point, map[string]any) (plugin.Instance, error) {
	return failure{}, nil
}
func (failing) Close() error { return nil }

type failure struct{}

func (failure) Handle(context.Context, *plugin.Call) (*plugin.Answer, error) {
	return nil, errors.New("it broke")
}
func (failure) Close() error { return nil }

func withNodes(nodes ...crawl.PluginNode) func(o *tryout.Options) {
	return func(o *tryout.Options) {
		o.Job.Pipeline.Nodes = nodes
		o.Plugins = func(log *slog.Logger) *chain.Runner {
			return chain.New(chain.Config{Source: source{}, Log: log,
				When: func(at crawl.Point, text string) (chain.Condition, error) {
					return expr.Compile(at, text, expr.AsBool())
				}})
		}
	}
}

// told are the steps of a trial, in order, with their verdicts.
func told(t *trial.Trial) string {
	var out []string
	for i := range t.Steps {
		s := &t.Steps[i]
		out = append(out, fmt.Sprintf("%s:%s", s.ID, s.Verdict))
	}
	return strings.Join(out, " ")
}

func stepOf(t *testing.T, got *trial.Trial, id string) *trial.Step {
	t.Helper()
	for i := range got.Steps {
		if got.Steps[i].ID == id {
			return &got.Steps[i]
		}
	}
	t.Fatalf("there is no step %s in %s", id, told(got))
	return nil
}

func change(s *trial.Step, key string) string {
	for _, c := range s.Diff {
		if c.Key == key {
			return fmt.Sprintf("%v>%v", c.Before, c.After)
		}
	}
	return ""
}

// Each node has a step of its own at its place, with what it changed.
func TestNodesAreSteps(t *testing.T) {
	var agent string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		agent = r.Header.Get("X-Team")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, shop)
	}))
	defer srv.Close()
	got := try(t, srv.URL, "/p/1", withNodes(
		crawl.PluginNode{ID: "team", At: crawl.AtRequest, Use: "builtin/header@1",
			With: map[string]any{"set": map[string]any{"X-Team": "search"}}},
		crawl.PluginNode{ID: "ok", At: crawl.AtResponse, Use: "builtin/filter@1",
			With: map[string]any{"keep": "resp.status == 200"}},
		crawl.PluginNode{ID: "gross", At: crawl.AtDocument, Use: "builtin/map@1",
			With: map[string]any{"set": map[string]any{"gross": "doc.fields.price * 2", "price": "nil"}}},
		crawl.PluginNode{ID: "deep", At: crawl.AtDocument, Use: "builtin/map@1", When: "doc.depth > 3",
			With: map[string]any{"remove": []any{"gross"}}},
		crawl.PluginNode{ID: "near", At: crawl.AtLinks, Use: "builtin/filter@1",
			With: map[string]any{"drop": `link.url endsWith "/b"`, "reason": "far"}},
		crawl.PluginNode{ID: "hide", At: crawl.AtRecord, Use: "builtin/redact@1",
			With: map[string]any{"patterns": []any{"Lamp"}, "with": "***"}},
	))
	want := "url:ok scope:ok robots:ok team:ok fetch:ok ok:ok parse:ok rules:ok gross:ok deep:skipped near:ok links:ok " +
		"content:ok hide:ok record:ok"
	if told(got) != want {
		t.Fatalf("the steps are\n%s\nwant\n%s", told(got), want)
	}
	for _, tt := range []struct{ step, key, want string }{
		{"team", "headers.X-Team", "<nil>>[search]"}, {"rules", "fields.price", "<nil>>12.5"},
		{"gross", "fields.price", "12.5><nil>"}, {"gross", "fields.gross", "<nil>>25"}, {"parse", "title", "<nil>>Lamp"},
		{"hide", "title", "Lamp>***"}, {"links", "left_out.plugin:near", "<nil>>1"},
	} {
		if c := change(stepOf(t, got, tt.step), tt.key); c != tt.want {
			t.Errorf("%s: %s is %q, want %q", tt.step, tt.key, c, tt.want)
		}
	}
	if agent != "search" || !strings.Contains(string(got.Record), `"title":"***"`) ||
		!strings.Contains(string(got.Record), `"gross":25`) {
		t.Errorf("team %q, record %s", agent, got.Record)
	}
	if s := stepOf(t, got, "gross"); s.Point != crawl.AtDocument || s.Use != "builtin/map@1" {
		t.Errorf("%+v", s)
	}
}

func TestNodesThatEndIt(t *testing.T) {
	home, asked := site(t)
	node := func(id string, at crawl.Point, use string, on crawl.OnError, with map[string]any) crawl.PluginNode {
		return crawl.PluginNode{ID: id, At: at, Use: use, OnError: on, With: with}
	}
	no := map[string]any{"keep": "false", "reason": "never"}
	for _, tt := range []struct {
		name, steps, answer string
		requests            int64
		node                crawl.PluginNode
	}{
		{"a request is dropped", "n:stopped fetch:stopped", "refused [plugin:n]", 1,
			node("n", crawl.AtRequest, "builtin/filter@1", "", no)},
		{"an answer is dropped", "n:stopped parse:ok", "not stored [plugin:n]", 2,
			node("n", crawl.AtResponse, "builtin/filter@1", "", no)},
		{"a document is dropped", "n:stopped", "not stored [plugin:n]", 2,
			node("n", crawl.AtDocument, "builtin/filter@1", "", no)},
		{"a record is dropped", "content:ok n:stopped record:skipped", "not stored [plugin:n]", 2,
			node("n", crawl.AtRecord, "builtin/filter@1", "", no)},
		{"a failure is passed over", "n:failed links:ok", "it is fetched and stored", 2,
			node("n", crawl.AtDocument, "test/fails@1", "", nil)},
		{"a failure drops", "n:failed", "not stored [plugin:n]", 2,
			node("n", crawl.AtDocument, "test/fails@1", crawl.OnErrorDrop, nil)},
		{"a failure is tried again", "n:failed",
			"node n (test/fails@1) failed, and on_error says that the page is handled again", 2,
			node("n", crawl.AtDocument, "test/fails@1", crawl.OnErrorRetry, nil)},
		{"a failure pauses", "n:failed", "the execution is paused", 1,
			node("n", crawl.AtRequest, "test/fails@1", crawl.OnErrorStop, nil)},
	} {
		asked.Store(0)
		got := try(t, home, "/p/1", withNodes(tt.node))
		if !strings.Contains(told(got), tt.steps) || !strings.Contains(got.Answer, tt.answer) || asked.Load() != tt.requests {
			t.Errorf("%s: %s after %d requests: %s; want %q after %d: %s", tt.name, got.Answer, asked.Load(), told(got),
				tt.answer, tt.requests, tt.steps)
		}
	}
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "job", []string{home}
	o := tryout.Options{Job: &job, URL: home}
	withNodes(crawl.PluginNode{ID: "n", At: crawl.AtRecord, Use: "nobody/nothing@1"})(&o)
	o.Log = slog.New(slog.DiscardHandler)
	if _, err := tryout.Run(t.Context(), o); !crawl.IsPermanent(err) ||
		!strings.Contains(err.Error(), "nobody/nothing@1") {
		t.Errorf("a plug-in that is not there: %v", err)
	}
}
