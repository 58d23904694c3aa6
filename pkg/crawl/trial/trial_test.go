package trial

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

func TestCompare(t *testing.T) {
	type o = map[string]any
	for name, tt := range map[string]struct {
		before, after o
		want          string
	}{
		"same":    {o{"a": 1.0, "b": []any{"x"}}, o{"a": 1.0, "b": []any{"x"}}, ""},
		"added":   {o{}, o{"b": "x", "a": 1.0}, "a:<nil>>1 b:<nil>>x"},
		"removed": {o{"a": "x"}, nil, "a:x><nil>"},
		"changed": {o{"a": "x"}, o{"a": "y"}, "a:x>y"},
		"within": {o{"f": o{"p": 1.0, "q": 2.0}}, o{"f": o{"p": 3.0, "r": true}},
			"f.p:1>3 f.q:2><nil> f.r:<nil>>true"},
		"added within": {o{}, o{"f": o{"p": 1.0, "q": o{}}}, "f.p:<nil>>1 f.q:<nil>>map[]"},
		"lists of objects": {o{"l": []any{o{"u": "a"}, o{"u": "b"}}},
			o{"l": []any{o{"u": "a", "drop": "x"}, o{"u": "b"}, o{"u": "c"}}}, "l[0].drop:<nil>>x l[2].u:<nil>>c"},
		"another kind":    {o{"f": o{"p": 1.0}}, o{"f": "x"}, "f:map[p:1]>x"},
		"lists as wholes": {o{"l": []any{1.0}}, o{"l": []any{1.0, 2.0}}, "l:[1]>[1 2]"},
	} {
		var got []string
		for _, c := range Compare(tt.before, tt.after) {
			got = append(got, fmt.Sprintf("%s:%v>%v", c.Key, c.Before, c.After))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestFitSaysWhatItCut(t *testing.T) {
	long := strings.Repeat("ä\u202e", maxText)
	tr := &Trial{Given: "x\x00", Parse: &Parse{Text: long, Title: long}, Links: make([]Link, maxLinks+5)}
	tr.Record, _ = json.Marshal(map[string]any{"text": long, "title": "t"})
	tr.Fit()
	if len(tr.Parse.Text) > maxText+3 || strings.Contains(tr.Parse.Text, "\u202e") || len(tr.Links) != maxLinks ||
		len(tr.Notes) != 2 || tr.Given != "x\uFFFD" {
		t.Errorf("%d bytes of text, %d links, notes %q", len(tr.Parse.Text), len(tr.Links), tr.Notes)
	}
	if !json.Valid(tr.Record) || len(tr.Record) > 2*maxText || strings.Contains(string(tr.Record), "\u202e") {
		t.Errorf("record of %d bytes", len(tr.Record))
	}
}

// What is shown is bounded, plain, and the same each time.
func FuzzShown(f *testing.F) {
	f.Add([]byte(`{"a":"x","l":[1,2,{"b":"\u202e"}]}`))
	f.Add([]byte(`{"` + strings.Repeat("k", 200) + `":[` + strings.Repeat("1,", 300) + `1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var o map[string]any
		if json.Unmarshal(data, &o) != nil {
			return
		}
		got := Shown(o)
		text, err := json.Marshal(got)
		if err != nil || !utf8.Valid(text) {
			t.Fatal(err)
		}
		for _, r := range string(text) {
			if plaintext.Steers(r) && r > 0x7f {
				t.Fatalf("%q steers", r)
			}
		}
		if len(got) > maxListed || len(Compare(got, got)) > 0 || !reflect.DeepEqual(Shown(o), got) {
			t.Errorf("%s is shown as %v, too", text, Shown(o))
		}
	})
}
