package jsonpointer_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// The document and the pointers of RFC 6901, section 5 and 6.
const rfc = `{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}`

func TestPointersOfTheRFC(t *testing.T) {
	for pointer, want := range map[string]string{
		"": rfc, "/foo": `["bar", "baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3", "/g|h": "4",
		`/i\j`: "5", `/k"l`: "6", "/m~0n": "8",
		"#": rfc, "#/foo": `["bar", "baz"]`, "#/foo/0": `"bar"`, "#/": "0", "#/a~1b": "1", "#/c%25d": "2", "#/e%5Ef": "3",
		"#/g%7Ch": "4", "#/i%5Cj": "5", "#/k%22l": "6", "#/%20": "7", "#/m~0n": "8",
		"/foo/-": "", "/foo/2": "", "/foo/00": "", "/foo/-1": "", "/foo/+1": "", "/foo/bar": "", "/nobody": "",
		"/foo/0/0": "", "//": "", "/foo/99999999999999999999": "",
		"/\u0020": "7",
	} {
		p, err := jsonpointer.Parse(pointer)
		if got := p.Find([]byte("\n " + rfc + " ")); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", pointer, got, err, want)
		}
	}
}

func TestWhatIsNoPointer(t *testing.T) {
	for _, text := range []string{"foo", "a/b", "/a~", "/~2", "/a/~x/b", "#foo", "#%zz", strings.Repeat("/", 2000)} {
		if p, err := jsonpointer.Parse(text); err == nil {
			t.Errorf("%.20q: %q, want an error", text, p)
		}
	}
}

func TestItems(t *testing.T) {
	for doc, want := range map[string]int{`[]`: 0, `[ 1 , [2,3] ,{"a":[4]}, "]", "\"," ]`: 5, `{"a":1}`: 1, `null`: 1,
		`[[]]`: 1} {
		n := 0
		jsonpointer.Items([]byte(" "+doc+" "), func(item []byte) bool {
			n++
			if !json.Valid(item) {
				t.Errorf("%s: item %q", doc, item)
			}
			return true
		})
		if n != want {
			t.Errorf("%s: %d items, want %d", doc, n, want)
		}
	}
}

// A document of strangers takes no memory: it is neither decoded nor copied.
func TestNothingIsBuilt(t *testing.T) {
	doc := []byte(`{"deep":` + strings.Repeat("[", 9_000) + strings.Repeat("]",
		9_000) + `,"many":[` + strings.Repeat("{},", 200_000) + `7]}`)
	p, err := jsonpointer.Parse("/many/200000")
	if err != nil || !json.Valid(doc) {
		t.Fatal(err)
	}
	if got := p.Find(doc); string(got) != "7" {
		t.Fatalf("found %q", got)
	}
	if n := testing.AllocsPerRun(3, func() { p.Find(doc) }); n > 3 {
		t.Errorf("%v allocations", n)
	}
}

// oracle follows a pointer in a decoded document.
func oracle(v any, p jsonpointer.Pointer) (any, bool) {
	for _, token := range p {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(at) || strconv.Itoa(n) != token {
				return nil, false
			}
			v = at[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// unique reports whether encoding the decoded document loses nothing: no member was there twice.
func unique(doc []byte, v any) bool {
	again, err := json.Marshal(v)
	return err == nil && bytes.Count(doc, []byte(":")) == bytes.Count(again, []byte(":"))
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(rfc), "/foo/0")
	f.Add([]byte(`{"a":{"b":[1,{"c":"\u0064"}]},"\u0061b":null}`), "/a/b/1/c")
	f.Add([]byte(`{"a":1,"a":2}`), "/a")
	f.Add([]byte(`[[[["]"]]]]`), "#/0/0/0")
	f.Fuzz(func(t *testing.T, doc []byte, pointer string) {
		p, err := jsonpointer.Parse(pointer)
		if err != nil || !json.Valid(doc) {
			return
		}
		var v any
		if json.Unmarshal(doc, &v) != nil || !unique(doc, v) {
			v = nil
		}
		got := p.Find(doc)
		if got != nil && !json.Valid(got) {
			t.Fatalf("%q in %q: %q is no JSON", pointer, doc, got)
		}
		if v == nil {
			return
		}
		want, ok := oracle(v, p)
		if ok != (got != nil) {
			t.Fatalf("%q in %q: found %q, want %v %v", pointer, doc, got, want, ok)
		}
		var value any
		if ok && (json.Unmarshal(got, &value) != nil || !reflect.DeepEqual(value, want)) {
			t.Fatalf("%q in %q: %q, want %v", pointer, doc, got, want)
		}
	})
}
