package parser

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func scriptOf(t *testing.T, kind, source string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(`<body><script type="` + kind + `">` + source + `</script>`))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" {
			return n
		}
	}
	t.Fatal("no script")
	return nil
}

func TestTextOfData(t *testing.T) {
	for source, want := range map[string]string{
		`{ "a" : "b c" ,` + "\n" + `"n": [1, 2] }`:          `{"a":"b c","n":[1,2]}`,
		`{"a":"caf\u00e9 \u20AC \ud83d\ude00 http:\/\/x"}`:  `{"a":"café € 😀 http://x"}`,
		`{"a":"\u0022 \\u00e9 \" \n \u000a \ud83d \u005c"}`: `{"a":"\u0022 \\u00e9 \" \n \u000a \ud83d \u005c"}`,
		`{"a": no json  }`: `{"a": no json }`,
		`{"a":"\`:          `{"a":"\`,
	} {
		if got := TextOf(scriptOf(t, "application/ld+json", source)); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	if got := TextOf(scriptOf(t, "text/javascript", `{"a":1}`)); got != "" {
		t.Errorf("a program has the text %q", got)
	}
	if got := TextOf(scriptOf(t, "application/json", `{"a":1}`).Parent); got != "" {
		t.Errorf("what is around data has the text %q", got)
	}
}

// Escapes that are written out change no value.
func FuzzTextOfData(f *testing.F) {
	for _, s := range []string{"é", `\u00e9`, `\\u00e9`, `"`, "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		source, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var before, after any
		if json.Unmarshal(source, &before) != nil {
			return
		}
		if err := json.Unmarshal([]byte(unescaped(string(source))), &after); err != nil || before != after {
			t.Errorf("%s became %s: %v", source, unescaped(string(source)), err)
		}
		unescaped(s)
	})
}
