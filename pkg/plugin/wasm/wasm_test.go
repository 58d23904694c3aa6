package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/wasm"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

var descriptor = &plugin.Descriptor{Name: "x/y", Version: "1.0.0", Entry: "plugin.wasm",
	Limits: plugin.Limits{Memory: 32 << 20},
	Serves: []plugin.Serves{{Point: crawl.AtDocument, Needs: []string{plugin.NeedsBody, plugin.NeedsText}}}}

func callOf(title string) *plugin.Call {
	return &plugin.Call{Message: &plugin.Document{URL: "https://a.test/", Title: title, Text: "text"},
		Now: time.Date(2026, 11, 23, 8, 0, 0, 5, time.UTC), ID: "job https://a.test/",
		Body: func() []byte { return []byte("<p>here</p>") }}
}

// handle makes a call with a limit.
func handle(i plugin.Instance, title string, limit time.Duration) (*plugin.Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return i.Handle(ctx, callOf(title))
}

func TestWhatAModuleMustNotDo(t *testing.T) { kits(t, whatAModuleMustNotDo) }

func whatAModuleMustNotDo(t *testing.T, k *kit) {
	i := instanceOf(t, k, nil)
	for title, want := range map[string]error{"loop": plugin.ErrTimeout, "hoard": plugin.ErrMemory, "trap": plugin.ErrTrap,
		"exit": plugin.ErrTrap, "large": plugin.ErrOutput, "drop": plugin.ErrAnswer} {
		limit := time.Minute
		if title == "loop" {
			limit = 100 * time.Millisecond
		}
		start := time.Now()
		if _, err := handle(i, title, limit); !errors.Is(err, want) {
			t.Errorf("%s: %v after %v; want %v", title, err, time.Since(start), want)
		}
		if a, err := handle(i, "fine", time.Minute); err != nil || a.Action != plugin.Pass {
			t.Errorf("after %s: %+v, %v", title, a, err)
		}
	}
}

// On a machine that is busy with something else, calls take long by the clock, and none of them fails.
func TestTheLimitIsCPUTime(t *testing.T) { kits(t, theLimitIsCPUTime) }

func theLimitIsCPUTime(t *testing.T, k *kit) {
	i := instanceOf(t, k, nil)
	if _, err := handle(i, "fine", time.Hour); err != nil { // which makes a guest
		t.Fatal(err)
	}
	within := func(title string, cpu time.Duration) (time.Duration, error) {
		call := callOf(title)
		call.CPU = cpu
		start := time.Now()
		_, err := i.Handle(t.Context(), call)
		return time.Since(start), err
	}
	if _, err := within("loop", 100*time.Millisecond); !errors.Is(err, plugin.ErrTimeout) ||
		!strings.Contains(err.Error(), "100ms of CPU time") {
		t.Error(err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the CPU time of a thread")
	}
	var ended atomic.Bool
	var busy sync.WaitGroup
	for range 16 * runtime.NumCPU() {
		busy.Go(func() {
			for i := 0; !ended.Load(); i++ {
			}
		})
	}
	var longest time.Duration
	for began, calls := time.Now(), 0; calls < 20 && time.Since(began) < 10*time.Second; calls++ {
		took, err := within("fine", 100*time.Millisecond)
		if err != nil {
			t.Errorf("call %d, after %v: %v", calls, took, err)
		}
		longest = max(longest, took)
	}
	ended.Store(true)
	busy.Wait()
	t.Logf("the longest of the calls took %v", longest)
}

// A program that stops is no fault of the module.
func TestACallThatIsGivenUp(t *testing.T) { kits(t, aCallThatIsGivenUp) }

func aCallThatIsGivenUp(t *testing.T, k *kit) {
	i := instanceOf(t, k, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the program stops")) })
	_, err := i.Handle(ctx, callOf("loop"))
	if err == nil || errors.Is(err, plugin.ErrTimeout) || !strings.Contains(err.Error(), "the program stops") {
		t.Errorf("%v", err)
	}
}

// The same input gives the same output, on an instance that was used and on a fresh one. Nothing of the machine is
// seen.
func TestTheSameInputGivesTheSameOutput(t *testing.T) { kits(t, theSameInputGivesTheSameOutput) }

func theSameInputGivesTheSameOutput(t *testing.T, k *kit) {
	var first string
	for range 3 {
		i := instanceOf(t, k, nil)
		for range 3 {
			a, err := handle(i, "look", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := json.Marshal(a)
			if first == "" {
				first = string(got)
			}
			if string(got) != first {
				t.Errorf("got  %s\nwant %s", got, first)
			}
			if _, err := handle(i, "log", time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range append([]string{`"now":"2026-11-23T08:00:00.000000005Z"`, `"body":11`}, k.sees...) {
		if !strings.Contains(first, want) {
			t.Errorf("%s lacks %s", first, want)
		}
	}
	other := callOf("look")
	other.ID = "another"
	a, err := instanceOf(t, k, nil).Handle(context.Background(), other)
	if got, _ := json.Marshal(a); err != nil || string(got) == first {
		t.Errorf("another message has the same random bytes: %s, %v", got, err)
	}
}

func TestLogAndCountersAreBounded(t *testing.T) { kits(t, logAndCountersAreBounded) }

func logAndCountersAreBounded(t *testing.T, k *kit) {
	i := instanceOf(t, k, nil)
	a, err := handle(i, "log", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	bytes := 0
	for _, l := range a.Log {
		bytes += len(l)
	}
	if bytes == 0 || bytes > 8<<10 {
		t.Errorf("%d bytes of log", bytes)
	}
	p, _ := k.load()
	if n := len(p.(interface{ Counters() map[string]int64 }).Counters()); n != 32 {
		t.Errorf("%d counters", n)
	}
}

func TestSettingsThatAModuleRefuses(t *testing.T) { kits(t, settingsThatAModuleRefuses) }

func settingsThatAModuleRefuses(t *testing.T, k *kit) {
	instanceOf(t, k, nil)
	p, _ := k.load()
	_, err := p.Configure(context.Background(), crawl.AtDocument, map[string]any{"bad": true})
	if bad := (*plugin.ConfigError)(nil); !errors.As(err, &bad) || bad.Path != "bad" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Configure(ctx, crawl.AtDocument, map[string]any{"loop": true}); !errors.Is(err, plugin.ErrTimeout) {
		t.Errorf("a loop in configure: %v", err)
	}
	if _, err := p.Configure(context.Background(), crawl.AtOutput, nil); err == nil {
		t.Error("it serves a point that its descriptor does not name")
	}
}

// Many callers at once get answers of their own, and nothing is left behind.
func TestManyCallsAtOnce(t *testing.T) { kits(t, manyCallsAtOnce) }

func manyCallsAtOnce(t *testing.T, k *kit) {
	before := runtime.NumGoroutine()
	i := instanceOf(t, k, nil)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for n := range 20 {
				title := []string{"scan", "fine", "trap"}[(w+n)%3]
				a, err := handle(i, title, time.Minute)
				switch {
				case title == "trap":
					if !errors.Is(err, plugin.ErrTrap) {
						t.Error(err)
					}
				case err != nil:
					t.Error(title, err)
				case title == "scan" && fmt.Sprint(a.Patch.(*plugin.DocumentPatch).Fields["e"]) != "2":
					t.Errorf("%+v", a.Patch)
				}
			}
		})
	}
	group.Wait()
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	late := time.After(10 * time.Minute)
	for n := runtime.NumGoroutine(); n > before+2; n = runtime.NumGoroutine() { // those of tests before may end meanwhile
		select {
		case <-t.Context().Done():
			return
		case <-late:
			t.Fatalf("%d goroutines, %d before", n, before)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestModulesThatAreNone(t *testing.T) {
	h, err := wasm.New(wasm.Config{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	fine := wasmtest.Module{ABI: 1, Alloc: 4096, Answer: `{"action":"pass"}`}
	for name, c := range map[string]struct {
		module []byte
		serves crawl.Point
		want   string
	}{
		"no module":      {[]byte("hello"), crawl.AtDocument, "is no WASM module"},
		"another import": {wasmtest.Module{ABI: 1, Imports: "env"}.Bytes(), crawl.AtDocument, "imports env.f"},
		"lacks alloc": {wasmtest.Module{ABI: 1, Without: "wp_alloc"}.Bytes(), crawl.AtDocument,
			"does not export wp_alloc"},
		"lacks a point": {fine.Bytes(), crawl.AtRecord, "does not export wp_record"},
		"other type":    {wasmtest.Module{ABI: 1, NoResult: true}.Bytes(), crawl.AtDocument, "other parameters or results"},
		"output":        {fine.Bytes(), crawl.AtOutput, "cannot serve"},
	} {
		d := *descriptor
		d.Serves = []plugin.Serves{{Point: c.serves}}
		if _, err := h.Load(t.Context(), &d, c.module); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	two := wasmtest.Module{ABI: 2}.Bytes()
	p, err := h.Load(t.Context(), descriptor, two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Configure(t.Context(), crawl.AtDocument, nil); err == nil ||
		!strings.Contains(err.Error(), "speaks whirlpool:2") {
		t.Errorf("another version: %v", err)
	}
}

func TestAnswersOfTinyModules(t *testing.T) {
	h, err := wasm.New(wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m    wasmtest.Module
		want error
	}{
		"pass":                {wasmtest.Module{Answer: `{"action":"pass"}`}, nil},
		"no JSON":             {wasmtest.Module{Answer: `hello`}, plugin.ErrAnswer},
		"wrong type":          {wasmtest.Module{Answer: `{"action":"patch","patch":{"title":7}}`}, plugin.ErrAnswer},
		"outside":             {wasmtest.Module{Answer: `{}`, At: 65530, Size: 100}, plugin.ErrAnswer},
		"far outside":         {wasmtest.Module{Answer: `{}`, At: -1, Size: 10}, plugin.ErrAnswer},
		"larger than allowed": {wasmtest.Module{Answer: `{}`, Size: 2 << 20}, plugin.ErrOutput},
		"negative size":       {wasmtest.Module{Answer: `{}`, Size: -5}, plugin.ErrOutput},
		"alloc outside":       {wasmtest.Module{Answer: `{}`, Alloc: 65535}, plugin.ErrAnswer},
		"endless":             {wasmtest.Module{Answer: `{}`, Endless: true}, plugin.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := h.Load(t.Context(), descriptor, c.m.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			i, err := p.Configure(t.Context(), crawl.AtDocument, nil)
			if name == "alloc outside" {
				if !errors.Is(err, c.want) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := handle(i, "x", 300*time.Millisecond); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%v; want %v", err, c.want)
			}
		})
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{`{"action":"pass"}`, `{"action":"patch","patch":{"title":"x"}}`,
		`{"action":"drop","reason":"a"}`, "", "{"} {
		f.Add([]byte(s))
	}
	h, err := wasm.New(wasm.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) > 2000 {
			return
		}
		p, err := h.Load(t.Context(), descriptor, wasmtest.Module{ABI: 1, Alloc: 4096, Answer: string(answer)}.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		i, err := p.Configure(t.Context(), crawl.AtDocument, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := i.Handle(t.Context(), callOf("x")); err == nil && a == nil {
			t.Error("neither an answer nor an error")
		}
	})
}

// A page of 30 KB: a call that passes, and a loop over its bytes, the price of interruption (wazero#2466).
func BenchmarkPage(b *testing.B) {
	body := bytes.Repeat([]byte("some text here "), 2000)
	for _, k := range allKits {
		for _, title := range []string{"pass", "scan"} {
			b.Run(k.name+"/"+title, func(b *testing.B) {
				i := instanceOf(b, k, nil)
				call := callOf(title)
				call.Body = func() []byte { return body }
				call.Message.(*plugin.Document).Text = string(body)
				b.ReportAllocs()
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
					if _, err := i.Handle(ctx, call); err != nil {
						b.Fatal(err)
					}
					cancel()
				}
			})
		}
	}
}
