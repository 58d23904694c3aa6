package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/manifest"
)

const good = `name = "shop/price"
version = "1.2.0"
abi = "whirlpool:1"
tier = "wasm"
entry = "plugin.wasm"
summary = "Reads prices"

[[serves]]
point = "document"
needs = ["text"]
adds = { price = "number" }

[limits]
memory = "32MiB"
timeout = "20ms"

[config]
type = "object"
required = ["currency"]
additionalProperties = false
properties = { currency = { type = "string", enum = ["EUR", "USD"] }, fields = { type = "array", items = { type = "object", properties = { min = { type = "number", minimum = 1 } } } } }

[[tests]]
input = "testdata/a.html"
want = "testdata/a.json"
with = { currency = "EUR" }
`

func TestADescriptorIsRead(t *testing.T) {
	d, err := manifest.Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if d.Use() != "shop/price@1.2.0" || d.Tier != plugin.WASM || d.Limits.Memory != 32<<20 ||
		d.Serves[0].Adds["price"] != "number" || d.Tests[0].With["currency"] != "EUR" {
		t.Errorf("read as %+v", d)
	}
}

func TestFaultsNameTheKey(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{`name = "shop/price"`, `name = "price"`, "plugin.toml: name: "},
		{`name = "shop/price"`, `name = "builtin/price"`, "the program's own"},
		{`version = "1.2.0"`, `version = "1.2"`, "version: "},
		{`version = "1.2.0"`, `version = "01.2.0"`, "version: "},
		{`abi = "whirlpool:1"`, `abi = "whirlpool:2"`, "abi: "},
		{`tier = "wasm"`, `tier = "builtin"`, "tier: "},
		{`entry = "plugin.wasm"`, `entry = "../plugin.wasm"`, "entry: "},
		{`entry = "plugin.wasm"`, `entry = "/bin/sh"`, "entry: "},
		{`summary = "Reads prices"`, ``, "summary: it is missing"},
		{`summary = "Reads prices"`, `summery = "Reads prices"`, "line 6: summery: there is no such key"},
		{`point = "document"`, `point = "documents"`, "serves[0].point: "},
		{`needs = ["text"]`, `needs = ["html"]`, "serves[0].needs: "},
		{`price = "number"`, `price = "money"`, "serves[0].adds.price: "},
		{`memory = "32MiB"`, `memory = "1GiB"`, "limits.memory: "},
		{`memory = "32MiB"`, `memory = "much"`, "line 14"},
		{`timeout = "20ms"`, `timeout = "3s"`, "limits.timeout: "},
		{`type = "object"`, `type = "thing"`, "config: it is no JSON Schema"},
		{`type = "object"`, `"$ref" = "file:///etc/passwd"`, "want all of it in [config]"},
		{`input = "testdata/a.html"`, `input = "../a.html"`, "tests[0].input: "},
		{`input = "testdata/a.html"`, `inputs = "testdata/a.html"`, "line 24: tests.inputs"},
		{`tier = "wasm"`, `tier = `, "line 4"},
		{`tier = "wasm"`, `tier = 3`, "line 4"},
	} {
		if _, err := manifest.Parse([]byte(strings.Replace(good, c.old, c.now, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q in it", c.now, err, c.want)
		}
	}
	if _, err := manifest.Parse(make([]byte, 1<<20)); err == nil {
		t.Error("a file of 1 MiB is read")
	}
}

func TestSettingsAreCheckedBySchema(t *testing.T) {
	d, err := manifest.Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	s, err := manifest.SchemaOf(d)
	if err != nil {
		t.Fatal(err)
	}
	for with, want := range map[string]string{
		`{"currency": "EUR"}`:         "",
		`{}`:                          "missing property 'currency'",
		`{"currency": "GBP"}`:         "currency: value must be one of",
		`{"currency": "EUR", "x": 1}`: "additional properties 'x' not allowed",
		`{"currency": "EUR", "fields": [{}, {"min": 0}]}`: "fields[1].min: ",
	} {
		var settings map[string]any
		if err := json.Unmarshal([]byte(with), &settings); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range s.Check(settings) {
			got = append(got, e.Error())
		}
		if text := strings.Join(got, "\n"); want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q in it", with, text, want)
		}
	}
	none, err := manifest.SchemaOf(&plugin.Descriptor{})
	if err != nil || none.Check(map[string]any{"x": 1}) == nil || none.Check(nil) != nil {
		t.Errorf("a plug-in without a schema takes settings (%v)", err)
	}
}

func TestSchemasOfBuiltinPluginsCompile(t *testing.T) {
	for _, d := range builtin.All() {
		if _, err := manifest.SchemaOf(d); err != nil {
			t.Errorf("%s: %v", d.Use(), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("a = 1979-05-27T07:32:00Z")
	f.Add("[config]\nx = inf\n[[tests]]\nwith = {a = nan}")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := manifest.Parse([]byte(text))
		if err != nil {
			return
		}
		if s, err := manifest.SchemaOf(d); err != nil {
			t.Errorf("%q: %v", text, err)
		} else {
			s.Check(map[string]any{"a": 1})
		}
	})
}
