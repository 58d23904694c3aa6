package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

var update = flag.Bool("update", false, "write the golden files")

// parseAll is Parse with its links collected.
func parseAll(t testing.TB, doc string, limits Limits) (Kind, Stats, []Link) {
	t.Helper()
	var links []Link
	kind, stats, err := Parse(strings.NewReader(doc), limits, func(l Link) error {
		links = append(links, l)
		return nil
	})
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if stats.Links != len(links) {
		t.Errorf("%d links counted, %d emitted", stats.Links, len(links))
	}
	if stats.Truncated != (stats.Err != nil) {
		t.Errorf("truncated %v but why: %v", stats.Truncated, stats.Err)
	}
	return kind, stats, links
}

// describe renders a result as the golden files have it.
func describe(kind Kind, stats Stats, links []Link) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v links=%d skipped=%d faults=%d", kind, stats.Links, stats.Skipped, stats.Faults)
	if stats.Truncated {
		fmt.Fprintf(&b, " truncated: %v", stats.Err)
	}
	b.WriteByte('\n')
	for _, l := range links {
		b.WriteString(l.URL)
		if l.Base != "" {
			b.WriteString(" base=" + l.Base)
		}
		if !l.LastMod.IsZero() {
			b.WriteString(" lastmod=" + l.LastMod.Format(time.RFC3339Nano))
		}
		if l.ChangeFreq != "" {
			b.WriteString(" freq=" + l.ChangeFreq)
		}
		if l.Priority != DefaultPriority {
			fmt.Fprintf(&b, " priority=%g", l.Priority)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What an element is of is said by its namespace, not by its prefix, and lines may end as any system ends them.
func TestPrefixesAndLineEnds(t *testing.T) {
	const ns = "http://www.sitemaps.org/schemas/sitemap/0.9"
	for name, c := range map[string]struct{ doc, want string }{
		"all with a prefix": {`<s:urlset xmlns:s="` + ns + `"><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>`, "1"},
		"two prefixes": {`<urlset xmlns="` + ns + `" xmlns:s="` + ns +
			`"><url><s:loc>http://a.test/1</s:loc></url></urlset>`, "1"},
		"declared within": {`<s:urlset xmlns:s="` + ns + `"><url xmlns="` + ns +
			`"><s:loc>http://a.test/1</s:loc></url></s:urlset>`, "1"},
		"another namespace": {`<urlset xmlns="` + ns + `" xmlns:i="http://i.test/"><url><loc>http://a.test/1</loc>` +
			`<i:loc>http://a.test/2</i:loc><j:loc>http://a.test/3</j:loc></url></urlset>`, "1"},
		"no namespaces": {`<urlset><url><loc>http://a.test/1</loc><j:loc>http://a.test/2</j:loc></url></urlset>`, "1"},
		"CR":            {"http://a.test/1\rhttp://a.test/2\r\rhttp://a.test/3", "123"},
		"CRLF":          {"http://a.test/1\r\nhttp://a.test/2\r\n", "12"},
		"CR, too long":  {"http://a.test/1\r" + strings.Repeat("x", 2*bufferLen) + "\rhttp://a.test/2", "12"},
	} {
		_, _, links := parseAll(t, c.doc, DefaultLimits())
		got := ""
		for _, l := range links {
			got += strings.TrimPrefix(l.URL, "http://a.test/")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.[xt][mx][lt]")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(parseAll(t, string(doc), DefaultLimits()))
			golden := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

const oneURL = `<urlset><url><loc>https://h.example/é</loc></url></urlset>`

func encodeWith(t *testing.T, enc interface{ String(string) (string, error) }, s string) string {
	t.Helper()
	out, err := enc.String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func zip(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncodings(t *testing.T) {
	latin1 := encodeWith(t, charmap.ISO8859_1.NewEncoder(), `<?xml version="1.0" encoding="ISO-8859-1"?>`+oneURL)
	declared16 := `<?xml version="1.0" encoding="UTF-16"?>` + oneURL
	for name, doc := range map[string]string{
		"UTF-8":                         oneURL,
		"UTF-8 with mark":               "\ufeff" + oneURL,
		"Latin-1 by declaration":        latin1,
		"blanks before the declaration": "\n " + latin1,
		"UTF-16LE with mark": encodeWith(t, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewEncoder(),
			declared16),
		"UTF-16BE with mark": encodeWith(t, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewEncoder(),
			declared16),
		"UTF-16BE without mark": encodeWith(t, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder(),
			declared16),
		"UTF-16LE without mark": encodeWith(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(),
			oneURL),
		"UTF-8 declared as UTF-16": declared16,
		"unknown encoding":         `<?xml version="1.0" encoding="x-none"?>` + oneURL,
		"gzip":                     zip(t, oneURL),
		"gzip of Latin-1":          zip(t, latin1),
	} {
		t.Run(name, func(t *testing.T) {
			kind, stats, links := parseAll(t, doc, DefaultLimits())
			if kind != URLSet || stats.Truncated || len(links) != 1 || links[0].URL != "https://h.example/é" {
				t.Errorf("%v %+v %+v", kind, stats, links)
			}
		})
	}
}

func TestForeignOctetsDoNotEndTheReading(t *testing.T) {
	doc := "<urlset><url><loc>https://h/1</loc><x>\x00\x01\xff\xc3(</x></url><url><loc>https://h/\xff</loc></url></urlset>"
	_, stats, links := parseAll(t, doc, DefaultLimits())
	if stats.Truncated || stats.Faults != 0 || len(links) != 2 || links[1].URL != "https://h/\ufffd" {
		t.Errorf("%+v %+v", stats, links)
	}
}

func TestUnknownDocumentsHaveNoLinks(t *testing.T) {
	for name, doc := range map[string]string{
		"empty":             "",
		"blank":             " \n\n ",
		"HTML":              "<!DOCTYPE html><html><a href='https://h/'>x</a><url><loc>https://h/</loc></url></html>",
		"prose":             "see\nhttps://h/",
		"JSON":              `{"url":"https://h/"}`,
		"long first line":   strings.Repeat("x", 1<<20) + "\nhttps://h/",
		"late root":         "<!--" + strings.Repeat("x", 2*sniffLen) + "--><html><url><loc>https://h/</loc></url></html>",
		"declaration alone": `<?xml version="1.0"?>`,
	} {
		if kind, stats, links := parseAll(t, doc, DefaultLimits()); kind != Unknown || len(links) != 0 || stats.Truncated {
			t.Errorf("%s: %v %+v %+v", name, kind, stats, links)
		}
	}
}

func TestLateRootIsFound(t *testing.T) {
	kind, _, links := parseAll(t, "<!--"+strings.Repeat("x", 2*sniffLen)+"-->"+oneURL, DefaultLimits())
	if kind != URLSet || len(links) != 1 {
		t.Errorf("%v %+v", kind, links)
	}
}

func TestErrorsOfEmitAndReaderAreReturned(t *testing.T) {
	full := errors.New("store is full")
	calls := 0
	_, stats, err := Parse(strings.NewReader("https://h/1\nhttps://h/2\n"), DefaultLimits(), func(Link) error {
		calls++
		return full
	})
	if !errors.Is(err, full) || calls != 1 || stats.Links != 0 {
		t.Errorf("emit: %v after %d calls, %+v", err, calls, stats)
	}
	broken := errors.New("disk on fire")
	for _, doc := range []string{oneURL[:40], "https://h/1\nhttps:", zip(t, oneURL)[:20], ""} {
		r := io.MultiReader(strings.NewReader(doc), iotest.ErrReader(broken))
		if _, _, err := Parse(r, DefaultLimits(), func(Link) error { return nil }); !errors.Is(err, broken) {
			t.Errorf("%q: %v", doc, err)
		}
	}
	if _, _, err := Parse(strings.NewReader(oneURL), Limits{}, nil); err == nil {
		t.Error("zero limits accepted")
	}
}

func TestSniffFeed(t *testing.T) {
	utf16 := encodeWith(t, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewEncoder(), "<rss>")
	for doc, want := range map[string]bool{
		"<rss version='2.0'>": true, "<feed>": true, "<urlset/>": true, "\ufeff \n<sitemapindex>": true,
		"<?xml version='1.0'?><!-- <html> --><rdf:RDF xmlns:rdf='x'>":          true,
		"<!DOCTYPE rss PUBLIC '-//N//RSS 0.91' 'x' [<!ENTITY a 'b>'>]>\n<rss>": true,
		"<!DOCTYPE html><rss>x": true, utf16: true,
		"": false, "rss": false, "<": false, "<rs": false, "<html><rss>": false, "<!--<rss>": false, "<!DOCTYPE": false,
		"<!DOCTYPE x [": false, "<?xml": false, "<a:b:rss-x>": false, "https://h/": false,
	} {
		if got := SniffFeed([]byte(doc)); got != want {
			t.Errorf("%q: %v", doc, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2024-05-06T07:08:09Z":             at,
		"2024-05-06T09:08:09+02:00":        at,
		"2024-05-06T09:08:09+0200":         at,
		"2024-05-06 07:08:09":              at,
		"Mon, 06 May 2024 07:08:09 GMT":    at,
		"Mon, 6 May 2024 02:08:09 EST":     at,
		"06 May 2024 09:08:09 +0200":       at,
		"Mon, 06 May 24 07:08:09 +0000":    at,
		"2024-05-06T07:08Z":                at.Truncate(time.Minute),
		"Mon, 06 May 2024":                 at.Truncate(24 * time.Hour),
		"2024-05-06":                       at.Truncate(24 * time.Hour),
		"Thursday, 06-May-24 07:08:09 GMT": at,
		"Mon, 06 May 2024 09:08:09 CEST":   at,
		"2024-05-06T07:08:09.000+00":       at,
		"2024-5-6":                         at.Truncate(24 * time.Hour),
		"6/5/2024":                         {},
		"2024":                             time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		"":                                 {},
		"yesterday":                        {},
		"2024-13-01":                       {},
		strings.Repeat("2024-05-06 ", 100): {},
	} {
		if got, ok := parseTime(s); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%q: %v %v, want %v", s, got, ok, want)
		}
	}
}

func TestSeveralLocations(t *testing.T) {
	many := strings.Repeat("<loc>http://h/%</loc>", 250)
	for i := range 250 {
		many = strings.Replace(many, "%", fmt.Sprint(i), 1)
	}
	for name, tt := range map[string]struct {
		doc  string
		want int
	}{
		"two":               {"<urlset><url><loc>http://h/1</loc><loc>http://h/2</loc></url><url><loc>http://h/3</loc></url></urlset>", 3},
		"the same twice":    {"<urlset><url><loc>http://h/1</loc><loc>http://h/1</loc></url></urlset>", 1},
		"very many":         {"<urlset><url>" + many + "</url></urlset>", 250},
		"in one element":    {"<urlset><url><loc>\nhttp://h/1\n http://h/2\thttps://h/3 </loc></url></urlset>", 3},
		"a space in a URL":  {"<urlset><url><loc>http://h/a b</loc></url></urlset>", 1},
		"sitemaps in one":   {"<sitemapindex><sitemap><loc>http://h/1.xml</loc><loc>http://h/2.xml</loc></sitemap></sitemapindex>", 2},
		"pictures are none": {"<urlset><url><loc>http://h/1</loc><image:image><image:loc>http://h/i</image:loc></image:image></url></urlset>", 1},
	} {
		if _, stats, links := parseAll(t, tt.doc, DefaultLimits()); len(links) != tt.want || stats.Truncated {
			t.Errorf("%s: %d links, want %d: %+v", name, len(links), tt.want, links)
		}
	}
}

// Entities that XML does not know are HTML's, or the text that they look like.
// TestLinksOfEntries has entries that name their page in other ways than most.
func TestLinksOfEntries(t *testing.T) {
	const atom, end = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>`, `</entry></feed>`
	const rss = `<rss xmlns:a="http://www.w3.org/2005/Atom"><channel><item>`
	for doc, want := range map[string]string{
		atom + `<link rel="http://www.iana.org/assignments/relation/alternate" href="/1"/>` + end:                "/1",
		atom + `<link rel="http://www.iana.org/assignments/relation/self" href="/1"/>` + end:                     "",
		atom + `<content type="text/html" src="/1"/>` + end:                                                      "/1",
		atom + `<content type="text/html" src="/1"/><link href="/2"/>` + end:                                     "/2",
		atom + `<content type="video/mp4" src="/1"/>` + end:                                                      "",
		rss + `<a:link href="/1"/></item></channel></rss>`:                                                       "/1",
		rss + `<a:link href="/1" rel="replies"/></item></channel></rss>`:                                         "",
		rss + `<a:link href="/1"/><link>/2</link></item></channel></rss>`:                                        "/2",
		"<br />\n<b>Warning</b>: x in y\n<?xml version='1.0'?>" + rss + `<link>/1</link></item></channel></rss>`: "/1",
		"Notice: x\n<?xml version='1.0'?><urlset><url><loc>/1</loc></url></urlset>":                              "/1",
		"<p>Use this:</p><?xml version='1.0'?><x/><urlset><url><loc>/1</loc></url></urlset>":                     "",
	} {
		_, _, links := parseAll(t, doc, DefaultLimits())
		got := ""
		for _, l := range links {
			got += l.URL
		}
		if got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

func TestUndefinedEntities(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/caf&eacute;":          "http://h/caf\u00e9",
		"http://h/?a=1&nbsp;2":          "http://h/?a=1\u00a02",
		"http://h/?a=1&copy=2&b=3&amp;": "http://h/?a=1&copy=2&b=3&",
		"http://h/?a=1&unheard;2":       "http://h/?a=1&unheard;2",
		"http://h/?a=&;&&#x;&#233;":     "http://h/?a=&;&&#x;\u00e9",
	} {
		_, stats, links := parseAll(t, "<urlset><url><loc>"+in+"</loc></url><url><loc>http://h/next</loc></url></urlset>",
			DefaultLimits())
		if len(links) != 2 || links[0].URL != want || stats.Truncated {
			t.Errorf("%s: got %+v, %+v, want %s", in, links, stats, want)
		}
	}
}
