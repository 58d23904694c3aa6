package wasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/wasm"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := wasmtest.Forget(); err != nil {
		code = max(code, 1)
	}
	os.Exit(code)
}

// kit is one that modules are written with, and its module of testdata: both do the same.
type kit struct {
	name string
	load func() (plugin.Plugin, error) // built once, and compiled once
	sees []string                      // what its modules see of the machine, besides
}

var allKits = []*kit{
	{"go", sync.OnceValues(func() (plugin.Plugin, error) {
		return loaded(wasmtest.GoModule(context.Background(), "./testdata/hostile"))
	}), []string{`"file":"true"`, `"env":0`}},
	{"assemblyscript", sync.OnceValues(func() (plugin.Plugin, error) {
		source, err := os.ReadFile("testdata/hostile-as/index.ts")
		if err != nil {
			return nil, err
		}
		return loaded(wasmtest.ScriptModule(context.Background(), source))
	}), nil},
}

func loaded(module []byte, err error) (plugin.Plugin, error) {
	if err != nil {
		return nil, err
	}
	h, err := wasm.New(wasm.Config{})
	if err != nil {
		return nil, err
	}
	d := *descriptor
	needs := []string{plugin.NeedsBody, plugin.NeedsText}
	d.Serves = nil
	for _, at := range []crawl.Point{crawl.AtRequest, crawl.AtResponse, crawl.AtDocument, crawl.AtLinks, crawl.AtRecord} {
		if d.Serves = append(d.Serves, plugin.Serves{Point: at}); at != crawl.AtRequest && at != crawl.AtLinks {
			d.Serves[len(d.Serves)-1].Needs = needs
		}
	}
	return h.Load(context.Background(), &d, module)
}

// kits runs a test with the module of each kit.
func kits(t *testing.T, f func(*testing.T, *kit)) {
	for _, k := range allKits {
		t.Run(k.name, func(t *testing.T) { f(t, k) })
	}
}

// there is the module of a kit. Without Node.js one of its kit is left out, but not in CI.
func there(tb testing.TB, k *kit) plugin.Plugin {
	tb.Helper()
	if testing.Short() {
		tb.Skip("builds modules")
	}
	p, err := k.load()
	if errors.Is(err, wasmtest.ErrNoNode) && os.Getenv("CI") == "" {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func instanceOf(tb testing.TB, k *kit, with map[string]any) plugin.Instance {
	tb.Helper()
	return instanceAt(tb, k, crawl.AtDocument, with)
}

func instanceAt(tb testing.TB, k *kit, at crawl.Point, with map[string]any) plugin.Instance {
	tb.Helper()
	i, err := there(tb, k).Configure(context.Background(), at, with)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := i.Close(); err != nil {
			tb.Error(err)
		}
	})
	return i
}

const odd = "a\"b\\c/\n\t\u0001\u2028 é 漢 😀"

// What the host writes both kits read, and what they answer is the same, at each point.
func TestKitsAgree(t *testing.T) { kits(t, kitsAgree) }

func kitsAgree(t *testing.T, k *kit) {
	fields := map[string]any{"n": 1.5, "whole": 20.0, "big": 1e21, "small": -1.5e-7, "text": odd,
		"list": []any{true, nil, map[string]any{"x": "y"}}, "": "no name"}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for name, c := range map[string]struct {
		m    plugin.Message
		body string
		want string
	}{
		"document": {&plugin.Document{URL: "https://a.test/x", Host: "a.test", Path: "/x", Depth: 3, Status: 200,
			FetchedAt: at, ContentType: "text/html", Title: "echo", Text: odd, Lang: "en", Canonical: "https://a.test/",
			NoIndex: true, Fields: fields}, "<p>" + odd, `{"action":"patch","patch":{
			"title":` + quoted("https://a.test/x|a.test|/x|"+odd+"|3|200|text/html|https://a.test/|id-1") + `,"text":` + quoted("<p>"+odd) + `,"lang":"en-x",
			"noindex":false,"nofollow":true,"fields":{"all":` + asJSON(fields) + `,"gone":null}}}`},
		"document without anything": {&plugin.Document{Title: "echo"}, "",
			`{"action":"patch","patch":{"title":"||||0|0|||id-1","text":"","lang":"-x","noindex":true,"nofollow":true,"fields":{"all":null,"gone":null}}}`},
		"request": {&plugin.Request{URL: "https://a.test/", Host: "a.test", Path: "/", Depth: 1, Attempt: 2, Kind: "page",
			Seed: true, Headers: map[string][]string{"Accept": {"a", odd}}}, "", `{"action":"patch","patch":{"headers":{"Accept":null,
			"X-Told":["https://a.test/","a.test","/","page","1","2","true","a",` + quoted(odd) + `]}}}`},
		"response": {&plugin.Response{ContentType: "text/html", Status: 200, Bytes: 5_000_000_000, Truncated: "size"},
			"\x00\xff\xfeabcd",
			`{"action":"patch","patch":{"content_type":"text/html|200|5000000000|size","body":"ZGNiYf7/AA=="}}`},
		"response without a body": {&plugin.Response{Status: 200}, "",
			`{"action":"patch","patch":{"content_type":"|200|0|"}}`},
		"links only": {&plugin.Response{Status: 404}, "x", `{"action":"links"}`},
		"links": {&plugin.Links{URL: "https://a.test/",
			Links: []plugin.Link{{URL: "1", Text: "out"}, {URL: "2", Rel: "next", Weight: 4}, {URL: "3", Rel: "next",
				Dropped: "before because"}, {URL: "4"}}}, "",
			`{"action":"patch","patch":{"change":[{"index":0,"drop":"out"},{"index":1,"weight":5}],
			"add":[{"url":"https://a.test/added","text":"more","tag":"plugin","weight":3}]}}`},
		"record": {&plugin.Record{Title: "t", Text: odd, Bytes: 7, Fields: fields, DuplicateOf: "https://a.test/",
			Similarity: "near"}, "",
			`{"action":"patch","patch":{"title":` + quoted("t|"+odd+"|7|https://a.test/|near") + `,"fields":` + asJSON(fields) +
				`}}`},
		"record that is dropped": {&plugin.Record{}, "", `{"action":"drop","reason":"empty"}`},
	} {
		i := instanceAt(t, k, c.m.Point(), nil)
		want, err := abi.ReadAnswer(c.m, []byte(c.want))
		if err != nil {
			t.Fatal(name, err)
		}
		got, unknown, err := i.(plugin.Strict).HandleStrict(t.Context(),
			&plugin.Call{Message: c.m, ID: "id-1", Now: at, Body: func() []byte { return []byte(c.body) }})
		if err != nil || len(unknown) > 0 {
			t.Errorf("%s: %v, unknown %q", name, err, unknown)
			continue
		}
		if got.Log = nil; len(want.Log) == 0 {
			want.Log = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, asJSON(got), asJSON(want))
		}
	}
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func quoted(s string) string { return asJSON(s) }
