package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
)

// fake is a plug-in whose answers a function gives.
type fake struct {
	d      plugin.Descriptor
	answer func(ctx context.Context, call *plugin.Call) (*plugin.Answer, error)
	open   *atomic.Int64 // instances
}

func (f *fake) Descriptor() *plugin.Descriptor { return &f.d }
func (f *fake) Close() error                   { return nil }
func (f *fake) Configure(_ context.Context, _ crawl.Point, with map[string]any) (plugin.Instance, error) {
	if with["bad"] != nil {
		return nil, &plugin.ConfigError{Path: "bad", Text: "there is no such setting"}
	}
	f.open.Add(1)
	return fakeInstance{f}, nil
}

type fakeInstance struct{ f *fake }

func (i fakeInstance) Handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
	return i.f.answer(ctx, call)
}
func (i fakeInstance) Close() error { i.f.open.Add(-1); return nil }

// source has plug-ins by their use.
type source map[string]*fake

func (s source) Plugin(_ context.Context, use, _ string) (plugin.Plugin, error) {
	p, ok := s[use]
	if !ok {
		return nil, fmt.Errorf("there is no plug-in %s", use)
	}
	return p, nil
}

func (s source) add(use string, answer func(context.Context, *plugin.Call) (*plugin.Answer, error)) {
	s[use] = &fake{answer: answer, open: &atomic.Int64{}, d: plugin.Descriptor{Name: use, Serves: []plugin.Serves{
		{Point: crawl.AtDocument, Needs: []string{plugin.NeedsText},
			Adds: map[string]string{"typed": "number"}}, {Point: crawl.AtRecord}, {Point: crawl.AtLinks},
		{Point: crawl.AtRequest}, {Point: crawl.AtResponse, Needs: []string{plugin.NeedsBody}}}}}
}

// bench is a runner with a clock of its own.
type bench struct {
	*chain.Runner
	source  source
	mu      sync.Mutex
	now     time.Time
	stopped []string
}

func newBench() *bench {
	b := &bench{source: source{}, now: time.Unix(1000, 0)}
	b.Runner = chain.New(chain.Config{Source: b.source, Log: slog.New(slog.DiscardHandler), Now: b.clock,
		When: func(at crawl.Point, text string) (chain.Condition, error) {
			return expr.Compile(at, text, expr.AsBool())
		},
		Stop: func(_ context.Context, job crawl.JobID, why string) error {
			b.stopped = append(b.stopped, string(job)+": "+why)
			return nil
		}})
	return b
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	b.now = b.now.Add(d)
	b.mu.Unlock()
}

func jobOf(nodes ...crawl.PluginNode) *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Epoch, j.Pipeline.Nodes = "j", 1, nodes
	return &j
}

func doc() *plugin.Document {
	return &plugin.Document{URL: "https://a.test/", Title: "T", Text: "some text", Lang: "en",
		Fields: map[string]any{"a": "1"}}
}

func setTitle(title string) func(context.Context, *plugin.Call) (*plugin.Answer, error) {
	return func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		return &plugin.Answer{Action: plugin.Patch,
			Patch: &plugin.DocumentPatch{Title: &title, Fields: map[string]any{"a": nil, "n": 3}}}, nil
	}
}

func fails(context.Context, *plugin.Call) (*plugin.Answer, error) { return nil, errors.New("no") }

func TestNodesRunInOrderWhereTheyAre(t *testing.T) {
	b := newBench()
	var seen []string
	for _, use := range []string{"x/a@1", "x/b@1", "x/c@1"} {
		b.source.add(use, func(_ context.Context, call *plugin.Call) (*plugin.Answer, error) {
			title := call.Message.(*plugin.Document).Title + use[2:3]
			seen = append(seen, use)
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Title: &title}}, nil
		})
	}
	job := jobOf(crawl.PluginNode{ID: "one", At: crawl.AtDocument, Use: "x/a@1"},
		crawl.PluginNode{ID: "other", At: crawl.AtRecord, Use: "x/b@1"},
		crawl.PluginNode{ID: "never", At: crawl.AtDocument, Use: "x/b@1", When: `doc.lang == "de"`},
		crawl.PluginNode{ID: "two", At: crawl.AtDocument, Use: "x/c@1", When: `doc.title == "Ta"`})
	d := doc()
	out, err := b.Run(t.Context(), job, &plugin.Call{Message: d})
	if err != nil || d.Title != "Tac" || strings.Join(out.Plugged.Plugins, " ") != "one=x/a@1 two=x/c@1" ||
		len(seen) != 2 {
		t.Errorf("%q, %+v, %v, %v", d.Title, out, seen, err)
	}
	for _, f := range b.Figures("j") {
		if f.Node == "never" && (f.Skipped != 1 || f.Calls != 0) ||
			f.Node == "one" && (f.Calls != 1 || f.Patched != 1 || f.P95 == 0) {
			t.Errorf("%+v", f)
		}
	}
}

func TestADropEndsTheChain(t *testing.T) {
	b := newBench()
	b.source.add("x/drop@1", func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		return &plugin.Answer{Action: plugin.Drop, Reason: "dull"}, nil
	})
	b.source.add("x/set@1", setTitle("never"))
	d := doc()
	out, err := b.Run(t.Context(), jobOf(crawl.PluginNode{ID: "d", At: crawl.AtDocument, Use: "x/drop@1"},
		crawl.PluginNode{ID: "s", At: crawl.AtDocument, Use: "x/set@1"}),
		&plugin.Call{Message: d})
	if err != nil || out.Drop != "plugin:d" || out.Why != "x/drop@1: dull" || d.Title != "T" ||
		len(out.Plugged.Plugins) != 1 {
		t.Errorf("%+v, %q, %v", out, d.Title, err)
	}
}

func TestOnError(t *testing.T) {
	for _, c := range []struct {
		on      crawl.OnError
		drop    string
		errs    int
		again   bool
		stopped bool
	}{{"", "", 1, false, false}, {crawl.OnErrorPass, "", 1, false, false},
		{crawl.OnErrorDrop, "plugin:n", 0, false, false}, {crawl.OnErrorRetry, "", 0, true, false},
		{crawl.OnErrorStop, "", 0, true, true}} {
		b := newBench()
		b.source.add("x/bad@1", fails)
		out, err := b.Run(t.Context(), jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/bad@1", OnError: c.on}),
			&plugin.Call{Message: doc()})
		if out.Drop != c.drop || len(out.Plugged.PluginErrors) != c.errs || (err != nil) != c.again ||
			(len(b.stopped) > 0) != c.stopped {
			t.Errorf("%q: %+v, %v, %v", c.on, out, err, b.stopped)
		}
	}
}

// The first failure of a node is told, with the page; each further one would drown the log.
func TestTheFirstFailureIsTold(t *testing.T) {
	var log bytes.Buffer
	source := source{}
	source.add("x/bad@1", fails)
	r := chain.New(chain.Config{Source: source, Log: slog.New(slog.NewTextHandler(&log, nil))})
	job := jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/bad@1"})
	for range 3 {
		if _, err := r.Run(t.Context(), job, &plugin.Call{Message: doc()}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "url=https://a.test/ ") {
		t.Errorf("it is told %d times:\n%s", n, &log)
	}
}

// What a plug-in must not do is a failure, and changes nothing.
func TestAnswersThatAreNone(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	number := map[string]any{"f": func() {}}
	for name, c := range map[string]struct {
		message plugin.Message
		answer  func(context.Context, *plugin.Call) (*plugin.Answer, error)
	}{
		"none":  {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) { return nil, nil }},
		"panic": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) { panic("no") }},
		"action": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: "explode"}, nil
		}},
		"links only": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.LinksOnly}, nil
		}},
		"other patch": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.LinksPatch{}}, nil
		}},
		"no patch": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch}, nil
		}},
		"long text": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Text: &long}}, nil
		}},
		"function": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Fields: number}}, nil
		}},
		"field without a name": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.DocumentPatch{Fields: map[string]any{"": 1}}}, nil
		}},
		"field of another type": {doc(), func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch,
				Patch: &plugin.DocumentPatch{Fields: map[string]any{"typed": "seven"}}}, nil
		}},
		"host": {&plugin.Request{}, func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch,
				Patch: &plugin.RequestPatch{Headers: map[string][]string{"hOST": {"b.test"}}}}, nil
		}},
		"cookie": {&plugin.Request{}, func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch,
				Patch: &plugin.RequestPatch{Headers: map[string][]string{"Cookie": {"a=b"}}}}, nil
		}},
		"line break": {&plugin.Request{}, func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch,
				Patch: &plugin.RequestPatch{Headers: map[string][]string{"X": {"a\r\nHost: b"}}}}, nil
		}},
		"no such link": {&plugin.Links{Links: []plugin.Link{{}}},
			func(context.Context, *plugin.Call) (*plugin.Answer, error) {
				return &plugin.Answer{Action: plugin.Patch,
					Patch: &plugin.LinksPatch{Change: []plugin.LinkChange{{Index: 1, Drop: "x"}}}}, nil
			}},
		"weight": {&plugin.Links{Links: []plugin.Link{{}}}, func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch,
				Patch: &plugin.LinksPatch{Change: []plugin.LinkChange{{Index: 0, Weight: 10}}}}, nil
		}},
		"body": {&plugin.Response{}, func(context.Context, *plugin.Call) (*plugin.Answer, error) {
			return &plugin.Answer{Action: plugin.Patch, Patch: &plugin.ResponsePatch{Body: make([]byte, 100<<20)}}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.source.add("x/bad@1", c.answer)
			before := fmt.Sprintf("%+v", c.message)
			out, err := b.Run(t.Context(), jobOf(crawl.PluginNode{ID: "n", At: c.message.Point(), Use: "x/bad@1"}),
				&plugin.Call{Message: c.message})
			if err != nil || len(out.Plugged.PluginErrors) != 1 || out.Drop != "" || fmt.Sprintf("%+v", c.message) != before {
				t.Errorf("%+v, %v, %+v", out, err, c.message)
			}
		})
	}
}

func TestACallHasALimit(t *testing.T) {
	b := newBench()
	var cpu []time.Duration
	b.source.add("x/slow@1", func(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
		if cpu = append(cpu, call.CPU); len(cpu) == 1 {
			return &plugin.Answer{Action: plugin.Pass}, nil // the first call may take ten times the limit
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	job := jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/slow@1",
		Timeout: crawl.Duration(time.Millisecond)})
	var step chain.Step
	ctx := chain.Observe(t.Context(), func(s chain.Step) { step = s })
	if _, err := b.Run(ctx, job, &plugin.Call{Message: doc()}); err != nil || step.Err != nil {
		t.Fatalf("%v, %v", err, step.Err)
	}
	if out, err := b.Run(ctx, job, &plugin.Call{Message: doc()}); err != nil || len(out.Plugged.PluginErrors) != 1 ||
		!errors.Is(step.Err, plugin.ErrTimeout) {
		t.Errorf("%+v, %v, %v", out, err, step.Err)
	}
	if want := []time.Duration{10 * time.Millisecond, time.Millisecond}; !slices.Equal(cpu, want) {
		t.Errorf("the calls may take %v of CPU time; want %v", cpu, want)
	}
	stopping, stop := context.WithCancelCause(t.Context())
	stop(errors.New("the program stops"))
	if _, err := b.Run(stopping, job, &plugin.Call{Message: doc()}); err == nil ||
		!strings.Contains(err.Error(), "stops") {
		t.Errorf("a program that stops: %v", err)
	}
	for _, f := range b.Figures("j") {
		if f.Errors != 1 {
			t.Errorf("the stop counts as a failure: %+v", f)
		}
	}
}

func TestTheBreaker(t *testing.T) {
	b := newBench()
	calls, works := 0, false
	b.source.add("x/n@1", func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		calls++
		if !works {
			return nil, errors.New("no")
		}
		return &plugin.Answer{Action: plugin.Pass}, nil
	})
	job := jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/n@1"})
	run := func(n int) {
		for range n {
			if _, err := b.Run(t.Context(), job, &plugin.Call{Message: doc()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect := func(what string, want int) {
		t.Helper()
		if calls != want {
			t.Errorf("%s: %d calls, want %d", what, calls, want)
		}
	}
	run(50)
	expect("twenty failures in a row", 20)
	b.pass(61 * time.Second)
	run(5)
	expect("one tries again", 21)
	b.pass(61 * time.Second)
	run(5)
	expect("the rest has doubled", 21)
	b.pass(61 * time.Second)
	works = true
	run(5)
	expect("it works again", 26)
	if f := b.Figures("j")[0]; !f.Tripped.IsZero() || f.Passed == 0 {
		t.Errorf("%+v", f)
	}
	// every second call fails: never many in a row
	flip := 0
	b.source.add("x/half@1", func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		if flip++; flip%2 == 0 {
			return nil, errors.New("no")
		}
		return &plugin.Answer{Action: plugin.Pass}, nil
	})
	job = jobOf(crawl.PluginNode{ID: "half", At: crawl.AtDocument, Use: "x/half@1"})
	job.Epoch = 2
	run(1000)
	if flip != 200 {
		t.Errorf("a half fails: %d calls, want 200", flip)
	}
}

func TestFaultsOfAPipelineNameTheNode(t *testing.T) {
	b := newBench()
	b.source.add("x/n@1", fails)
	for want, n := range map[string]crawl.PluginNode{
		"there is no plug-in x/none@1": {ID: "n", At: crawl.AtDocument, Use: "x/none@1"},
		"when: ":                       {ID: "n", At: crawl.AtDocument, Use: "x/n@1", When: "doc."},
		"with.bad: there is no such setting": {ID: "n", At: crawl.AtDocument, Use: "x/n@1",
			With: crawl.Settings{"bad": 1}},
		"x/n@1 does not serve the point output": {ID: "n", At: crawl.AtOutput, Use: "x/n@1"},
	} {
		err := b.Prepare(t.Context(), jobOf(n))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "pipeline.nodes[0] (n)") {
			t.Errorf("%v; want %q", err, want)
		}
	}
	// At run time the job is paused, and the message comes again.
	if _, err := b.Run(t.Context(), jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/none@1"}),
		&plugin.Call{Message: doc()}); err == nil || len(b.stopped) != 1 {
		t.Errorf("%v, %v", err, b.stopped)
	}
}

// Revisions share instances, and those of revisions that nobody uses are closed.
func TestInstancesAreSharedAndClosed(t *testing.T) {
	b := newBench()
	b.source.add("x/n@1", setTitle("t"))
	open := b.source["x/n@1"].open
	var group sync.WaitGroup
	for epoch := range uint32(300) {
		group.Add(1)
		go func() {
			defer group.Done()
			job := jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/n@1",
				With: crawl.Settings{"v": float64(epoch % 3)}})
			job.Epoch = epoch + 1
			for range 5 {
				if _, err := b.Run(context.Background(), job, &plugin.Call{Message: doc()}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if n := open.Load(); n < 1 || n > 3 {
		t.Errorf("%d instances are open, want at most 3", n)
	}
	if err := b.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%v, %d instances are open", err, open.Load())
	}
}

func BenchmarkNoPipeline(b *testing.B) {
	r, job, call := newBench(), jobOf(), &plugin.Call{Message: doc()}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Run(b.Context(), job, call)
	}
}

func BenchmarkOneNode(b *testing.B) {
	r := newBench()
	r.source.add("x/n@1", func(context.Context, *plugin.Call) (*plugin.Answer, error) {
		return &plugin.Answer{Action: plugin.Pass}, nil
	})
	job, call := jobOf(crawl.PluginNode{ID: "n", At: crawl.AtDocument, Use: "x/n@1"}), &plugin.Call{Message: doc()}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Run(b.Context(), job, call)
	}
}
