package textsearch

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func wordsOf(text string) (out []string) {
	Words(text, func(word string, from, to int) bool {
		out = append(out, word)
		if from < 0 || to <= from || to > len(text) {
			panic("a place outside")
		}
		return true
	})
	return out
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"Hello, World-Wide 42!":        "hello world wide 42",
		"Résumé NAÏVE Ångström":        "resume naive angstrom",
		"re\u0301sume\u0301":           "resume",
		"Straße ŁÓDŹ":                  "strasse lodz",
		"œuvre ﬁn Ægir ĳs":             "oeuvre fin aegir ijs",
		"Işık İstanbul":                "isik istanbul",
		"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ":            "οδυσσευσ οδυσσευσ",
		"Ёлка йод":                     "елка йод",
		"ё\u0301лка и\u0306од е\u0301": "елка йод е",
		"مُحَرِّك مـحـرك":              "محرك محرك",
		"أحمد إلى الى مكتبة":           "احمد الي الي مكتبه",
		"کتاب یک ﻻ":                    "كتاب يك لا",
		"שָׁלוֹם שלום":                 "שלום שלום",
		"दिल्ली १२३ ٤٥":                "दिल्ली 123 45",
		"กรุงเทพ ไทย ๑๒":               "ก รุ ง เ ท พ ไ ท ย 12",
		"می\u200cخواهم ตลาดน้ำ":        "ميخواهم ต ล า ด น้ ำ",
		"ဈေး, ဖဲ":                      "ဈေး ဖဲ",
		"서울은 abc":                      "서 울 은 abc",
		"\u1100\u1161\u11a8":           "각",
		"ｶﾀｶﾅ ｶﾞｷﾞ が":                  "カ タ カ ナ ガ ギ が",
		"Haupt\u00adstraße Ⅷ x①":       "hauptstrasse viii x1",
		"東京タワー abc":                    "東 京 タ ワ ー abc",
		"がぎ":                           "が ぎ",
		"ＡＢＣ１２":                        "abc12",
		"a\x00b\xffc":                  "a b c",
		"foo_bar don't x²":             "foo bar don t x2",
		"\u0301\u0301 alone accents":   "alone accents",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := strings.Join(wordsOf(Folded(text)), " "); got != want {
			t.Errorf("%q folded: %q, want %q", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for query, want := range map[string][2]string{ // what FTS5 and PostgreSQL read
		"rivers":                {`"rivers"`, `('rivers')`},
		"Rivers  LAKES":         {`"rivers" AND "lakes"`, `('rivers') & ('lakes')`},
		`"fountain of  whirls"`: {`"fountain of whirls"`, `('fountain' <-> 'of' <-> 'whirls')`},
		`vacuum "a phrase" -title:x`: {`("vacuum" AND "a phrase") NOT title : "x"`,
			`('vacuum') & ('a' <-> 'phrase') & !('x':A)`},
		"whirl* url:org":     {`"whirl" * AND url : "org"`, `('whirl':*) & ('org':B)`},
		`text:"big whi"*`:    {`text : "big whi" *`, `('big':D <-> 'whi':*D)`},
		"a OR b c":           {`("a" OR "b") AND "c"`, `(('a') | ('b')) & ('c')`},
		"“big whirls” «a b»": {`"big whirls" AND "a b"`, `('big' <-> 'whirls') & ('a' <-> 'b')`},
		"a 5” disk":          {`"a" AND "5" AND "disk"`, `('a') & ('5') & ('disk')`},
		"(a b) c f(x y) OR d": {`"a" AND "b" AND "c" AND "f x" AND ("y" OR "d")`,
			`('a') & ('b') & ('c') & ('f' <-> 'x') & (('y') | ('d'))`},
		"(a OR b) AND NOT c": {`(("a" OR "b")) NOT "c"`, `(('a') | ('b')) & !('c')`},
		"foo-bar - baz & x":  {`"foo bar" AND "baz" AND "x"`, `('foo' <-> 'bar') & ('baz') & ('x')`},
		"http://a.test:80/x 12:30": {`"http a test 80 x" AND "12 30"`,
			`('http' <-> 'a' <-> 'test' <-> '80' <-> 'x') & ('12' <-> '30')`},
		"std::string C++":              {`"std string" AND "c"`, `('std' <-> 'string') & ('c')`},
		"site:Example.org a":           {`url : "example org" AND "a"`, `('example':B <-> 'org':B) & ('a')`},
		"a -site:b.test/x lang:de":     {`("a") NOT url : "b test x"`, `('a') & !('b':B <-> 'test':B <-> 'x':B)`},
		"Site:b.test -TITLE:x Lang:de": {`(url : "b test") NOT title : "x"`, `('b':B <-> 'test':B) & !('x':A)`},
		"Note:x":                       {`"note x"`, `('note' <-> 'x')`},
		"東京":                           {`"東 京"`, `('東' <-> '京')`},
		`a"b c"d`:                      {`"a" AND "b c" AND "d"`, `('a') & ('b' <-> 'c') & ('d')`},
		"'; DROP TABLE x; -- NEAR(":    {`"drop" AND "table" AND "x" AND "near"`, `('drop') & ('table') & ('x') & ('near')`},
	} {
		q, err := Parse(query)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		if got := q.FTS5(); got != want[0] {
			t.Errorf("%q: FTS5 %s, want %s", query, got, want[0])
		}
		if got := q.TSQuery(); got != want[1] {
			t.Errorf("%q: tsquery %s, want %s", query, got, want[1])
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for query, part := range map[string]string{
		"":                            "say a word",
		"  -- !":                      "say a word",
		"-only -not":                  "only narrow",
		`"open`:                       "not closed",
		"titel:x":                     `no field "titel"`,
		"title: x":                    "wants a word",
		"site: x":                     "wants a word",
		"lang: x":                     "code of a language",
		"a lang:d'e":                  "code of a language",
		"a -lang:de":                  "without NOT",
		"a OR lang:de":                "without NOT",
		"a lang:de lang:en":           "two languages",
		"lang:de":                     "say a word",
		"a OR":                        "two words",
		"OR a":                        "word is missing",
		"a OR OR b":                   "word is missing",
		"a OR -b":                     "OR joins",
		"a -b OR c":                   "OR joins",
		"a NOT":                       "NOT stands",
		"a -(b c)":                    "before each word",
		"a NOT (b OR c)":              "before each word",
		"title:(a b)":                 "title: goes with a word",
		"(a b) OR c":                  "no brackets",
		"a OR (b c)":                  "no brackets",
		"fo*o":                        "end of a word only",
		"*":                           "beginning of a word",
		"a*":                          "too many words",
		`"a*b"`:                       "star stands",
		strings.Repeat("a ", 250):     "more than 32 words",
		strings.Repeat("a ", 251):     "502 bytes",
		strings.Repeat("x", 101):      "101 bytes",
		"a\xff":                       "UTF-8",
		strings.Repeat("-x ", 33):     "more than 32",
		`"` + strings.Repeat("東", 33): "not closed",
	} {
		_, err := Parse(query)
		if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", query, err, part)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("nothing here to see. ", 200)
	q, err := Parse(`whirls "two words" -here`)
	if err != nil {
		t.Fatal(err)
	}
	got := q.Snippet(long + "Some Whirls,\n\n  two\twords and two other words " + long + " whirls")
	var marked []string
	whole := ""
	for _, p := range got {
		whole += p.Text
		if p.Hit {
			marked = append(marked, p.Text)
		}
	}
	if !slices.Equal(marked, []string{"Whirls", "two words"}) || len(whole) > snippetBytes+20 ||
		strings.ContainsAny(whole, "\n\t") {
		t.Errorf("%q of %q", marked, whole)
	}
	if got := q.Snippet("no hit"); !reflect.DeepEqual(got, []Piece{{Text: "no hit"}}) {
		t.Errorf("%v", got)
	}
	if got := q.Snippet(""); got != nil {
		t.Errorf("%v", got)
	}
	q, _ = Parse("resume title:x")
	if got := q.Snippet("Résumé x"); !reflect.DeepEqual(got, []Piece{{"Résumé", true}, {" x", false}}) {
		t.Errorf("%v", got)
	}
	if got := q.Mark("Résumé x", Title); !reflect.DeepEqual(got, []Piece{{"Résumé", true}, {" ", false}, {"x", true}}) {
		t.Errorf("%v", got)
	}
}

func TestVector(t *testing.T) {
	const want = "'a':2A,6B,10 'title':3A 'http':5B 'test':7B 'the':9 's':11 'text':12 "
	if got := Vector("A title", "http://a.test/", "the A's text"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	v := Vector("", "", strings.Repeat("word ", 26_000)+"last")
	if len(v) > 1<<20 || !strings.Contains(v, "'last':16383") {
		t.Errorf("%d bytes: %s", len(v), v[len(v)-40:])
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a b", `"a b" -c`, "title:x OR text:y*", "NEAR(a, b)", `a"b`, "東京 -", "url:http://x/",
		"\x00", "AND", "a' & !b:*", `\`, "е́ Ǆ İ ﬁ ½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			if !errors.Is(err, ErrQuery) {
				t.Fatal(err)
			}
			return
		}
		n := 0
		for _, clause := range append(slices.Clone(q.All), q.Not) {
			for _, term := range clause {
				n += len(term.Words)
				for _, w := range term.Words {
					if got := wordsOf(w); !slices.Equal(got, []string{w}) {
						t.Fatalf("%q: the word %q is the words %q when it is read again", s, w, got)
					}
				}
			}
		}
		if n > MaxWords || len(q.All) == 0 {
			t.Fatalf("%q: %d words in %v", s, n, q)
		}
	})
}

func FuzzSnippet(f *testing.F) {
	f.Add("a b", "a text with a and b in it")
	f.Add(`"x y"`, "x y\xffx  y\n")
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := Parse(query)
		if err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		bytes := 0
		for _, p := range q.Snippet(text) {
			if bytes += len(p.Text); p.Text == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("piece %q", p.Text)
			}
		}
		if bytes > snippetBytes+MaxQuery {
			t.Fatalf("%d bytes", bytes)
		}
		if len(Vector(text, text, text)) > 16*(len(text)*3+1) {
			t.Fatal("a long vector")
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and naïve readers résumé it. ", 170)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Folded(text)
	}
}

func BenchmarkVector(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and naive readers resume it. ", 170)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Vector("Title", "https://a.test/", text)
	}
}

func TestLanguage(t *testing.T) {
	q, err := Parse("lang:DE-at wein")
	if err != nil || q.Lang != "de-at" {
		t.Fatalf("%+v, %v", q, err)
	}
	for filter, want := range map[string]string{"": "de-at", "de-AT": "de-at", "en": "error"} {
		got, err := q.Language(filter)
		if (err != nil) != (want == "error") || err == nil && got != want {
			t.Errorf("beside the filter %q: %q, %v; want %s", filter, got, err, want)
		}
	}
	var none *Query
	if got, err := none.Language("en"); got != "en" || err != nil {
		t.Errorf("without a query: %q, %v", got, err)
	}
}
