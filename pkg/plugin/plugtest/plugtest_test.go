package plugtest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/plugtest"
)

func TestRun(t *testing.T) {
	p, _ := builtin.Plugin("builtin/redact@1")
	dir := fstest.MapFS{
		"doc.json":   {Data: []byte(`{"text": "write to ann@example.com", "title": "x"}`)},
		"bad.json":   {Data: []byte(`{"texts": "x"}`)},
		"page.txt":   {Data: []byte("ask ann@example.com")},
		"want.json":  {Data: []byte(`{"action": "patch", "patch": {"text": "write to [email]"}}`)},
		"other.json": {Data: []byte(`{"action": "patch", "patch": {"text": "?", "title": "y"}}`)},
		"page.json":  {Data: []byte(`{"action": "patch", "patch": {"text": "ask [email]"}}`)},
	}
	for _, c := range []struct {
		test plugin.Test
		want string // in the faults; empty: none
	}{
		{plugin.Test{Input: "doc.json", Want: "want.json"}, ""},
		{plugin.Test{Input: "doc.json", Want: "want.json", Point: crawl.AtRecord}, ""},
		{plugin.Test{Input: "page.txt", Want: "page.json"}, ""},
		{plugin.Test{Input: "doc.json", Want: "other.json"}, `patch.text: got "write to [email]", want "?"`},
		{plugin.Test{Input: "doc.json", Want: "other.json"}, `patch.title: it is missing, want "y"`},
		{plugin.Test{Input: "doc.json", Want: "page.json"}, "patch.text"},
		{plugin.Test{Input: "bad.json", Want: "want.json"}, `unknown field "texts"`},
		{plugin.Test{Input: "none.json", Want: "want.json"}, "the input:"},
		{plugin.Test{Input: "doc.json", Want: "none.json"}, "the answer that is wanted:"},
		{plugin.Test{Input: "doc.json", Want: "page.txt"}, "page.txt: it is no JSON"},
		{plugin.Test{Input: "doc.json", Want: "want.json", With: map[string]any{"kinds": []any{"names"}}}, "with: kinds[0]"},
	} {
		got := strings.Join(plugtest.Run(t.Context(), p, dir, []plugin.Test{c.test}, nil)[0].Faults, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.test, got, c.want)
		}
	}
}

// A field of another type than plugin.toml says is a fault of the plug-in.
func TestFieldsHaveTheirTypes(t *testing.T) {
	for _, c := range []struct {
		kind string
		v    any
		ok   bool
	}{
		{"number", 7.5, true}, {"number", 7, true}, {"number", "seven", false}, {"number", nil, true},
		{"number", "1234567890123456789", true}, {"number", "12", false}, {"number", true, false}, {"string", "x", true},
		{"string", 1.0, false}, {"bool", false, true}, {"list", []any{1.0}, true}, {"list", []string{"a"}, true},
		{"list", map[string]any{}, false}, {"object", map[string]any{}, true}, {"object", []any{}, false},
	} {
		fault := plugin.AddsFault(map[string]string{"f": c.kind}, map[string]any{"f": c.v, "other": "x"})
		if (fault == "") != c.ok {
			t.Errorf("%v as %s: %q", c.v, c.kind, fault)
		}
	}
	p, _ := builtin.Plugin("builtin/map@1")
	typed := *p.Descriptor()
	typed.Serves = []plugin.Serves{{Point: crawl.AtDocument, Adds: map[string]string{"price": "number"}}}
	dir := fstest.MapFS{"page.json": {Data: []byte(`{"title": "9 EUR"}`)},
		"want.json": {Data: []byte(`{"action": "patch", "patch": {"fields": {"price": "9 EUR"}}}`)}}
	got := plugtest.Run(t.Context(), described{p, &typed}, dir, []plugin.Test{{Input: "page.json", Want: "want.json",
		With: map[string]any{"set": map[string]any{"price": "doc.title"}}}}, nil)
	if faults := strings.Join(got[0].Faults, "\n"); !strings.Contains(faults, "fields.price is of the type string") {
		t.Errorf("%q", faults)
	}
}

// described is a plug-in with another descriptor.
type described struct {
	plugin.Plugin
	d *plugin.Descriptor
}

func (d described) Descriptor() *plugin.Descriptor { return d.d }

func TestEveryPointHasAMessage(t *testing.T) {
	for _, at := range crawl.Points() {
		if m := plugtest.Empty(at); m == nil || m.Point() != at {
			t.Errorf("%s: %v", at, m)
		}
	}
}
