package sitemap

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestLimitsCutAndSaySo(t *testing.T) {
	urls := func(n int) string {
		var b strings.Builder
		b.WriteString("<urlset>")
		for i := range n {
			fmt.Fprintf(&b, "<url><loc>https://h/%d</loc></url>", i)
		}
		return b.String() + "</urlset>"
	}
	small := Limits{MaxBytes: 1000, MaxLinks: 10, MaxToken: 200, MaxDepth: 5, MaxURL: 50}
	first := "<urlset><url><loc>https://h/1</loc></url>"
	tests := []struct {
		name, doc string
		links     int
		why       error
	}{
		{"at the limit of links", urls(10), 10, nil},
		{"beyond it", urls(11), 10, ErrTooManyLinks},
		{"beyond the size", first + strings.Repeat(" <a/>", 200), 1, ErrTooLarge},
		{"at the size", first + strings.Repeat(" <a/>", (1000-len(first)-10)/5) + strings.Repeat(" ",
			(990-len(first))%5) + "</urlset> ", 1, nil},
		{"long text", first + "<a>" + strings.Repeat("x", 300), 1, ErrTokenTooLong},
		{"long tag", first + "<a b='" + strings.Repeat("x", 300), 1, ErrTokenTooLong},
		{"long comment", first + "<!--" + strings.Repeat("x", 300), 1, ErrTokenTooLong},
		{"long CDATA", first + "<a><![CDATA[" + strings.Repeat("x", 300), 1, ErrTokenTooLong},
		{"long declaration", "<!DOCTYPE urlset [" + strings.Repeat("x", 300), 0, ErrTokenTooLong},
		{"deep", first + strings.Repeat("<a>", 10), 1, ErrTooDeep},
		{"text beyond the links", strings.Repeat("https://h/\n", 11) + "https://h/x", 10, ErrTooManyLinks},
		{"cut between elements", first, 1, io.ErrUnexpectedEOF},
		{"cut in an entry", "<urlset><url><loc>https://h/1</loc><lastmod>20", 1, io.ErrUnexpectedEOF},
		{"cut in a URL", first + "<url><loc>https://h/cu", 1, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, stats, links := parseAll(t, tt.doc, small)
			if len(links) != tt.links || !errors.Is(stats.Err, tt.why) || stats.Truncated != (tt.why != nil) {
				t.Errorf("%d links, %+v; want %d, %v", len(links), stats, tt.links, tt.why)
			}
			if stats.Bytes > small.MaxBytes {
				t.Errorf("%d bytes read", stats.Bytes)
			}
		})
	}
}

func TestCutInATagKeepsWhatWasFound(t *testing.T) {
	_, stats, links := parseAll(t, "<urlset><url><loc>https://h/1</loc></url><url><loc>https://h/2</lo", DefaultLimits())
	if len(links) != 1 || !stats.Truncated {
		t.Errorf("%+v %+v", stats, links)
	}
	packed := zip(t, "<urlset><url><loc>https://h/1</loc></url></urlset>")
	_, stats, links = parseAll(t, packed[:len(packed)-6], DefaultLimits())
	if len(links) != 1 || !errors.Is(stats.Err, io.ErrUnexpectedEOF) {
		t.Errorf("gzip: %+v %+v", stats, links)
	}
	if kind, stats, _ := parseAll(t, "\x1f\x8bnot gzip at all", DefaultLimits()); kind != Unknown || !stats.Truncated {
		t.Errorf("bad gzip: %v %+v", kind, stats)
	}
}

func TestLongURLsAreSkippedOnly(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxURL = 20
	doc := "<urlset><url><loc>https://h/" + strings.Repeat("x",
		1<<16) + "</loc></url><url><loc>https://h/2</loc></url></urlset>"
	_, stats, links := parseAll(t, doc, limits)
	if len(links) != 1 || stats.Skipped != 1 || stats.Truncated {
		t.Errorf("%+v %+v", stats, links)
	}
}

func TestEntitiesAreNotExpanded(t *testing.T) {
	doc := `<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
<urlset><url><loc>https://h/&b;&x;&#65;&#x42;&lt;</loc></url></urlset>`
	_, stats, links := parseAll(t, doc, DefaultLimits())
	if len(links) != 1 || links[0].URL != "https://h/&b;&x;AB<" || stats.Truncated {
		t.Errorf("%+v %+v", stats, links)
	}
}

// endless gives n octets of a document without holding it, and watches the heap meanwhile.
type endless struct {
	head, body string
	n          int64
	reads      int
	peak       uint64 // of the heap, in octets
}

func (e *endless) Read(b []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	if e.reads++; e.reads%16 == 0 {
		e.peak = max(e.peak, heap())
	}
	if e.head == "" {
		e.head = e.body
	}
	n := copy(b, e.head)
	e.head = e.head[n:]
	e.n -= int64(n)
	return n, nil
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestHostileDocumentsTakeLittleMemory(t *testing.T) {
	const size, bound = 12 << 20, 8 << 20
	filler := strings.Repeat("a", 1<<12)
	for name, doc := range map[string]*endless{
		"text":       {head: "<urlset>", body: filler},
		"attribute":  {head: "<urlset a='", body: filler},
		"attributes": {head: "<urlset ", body: strings.Repeat("a='b' ", 1000)},
		"depth":      {head: "<urlset>", body: strings.Repeat("<a>", 1000)},
		"one line":   {head: "https://h/", body: filler},
		"faults":     {head: "<urlset>", body: strings.Repeat("< ", 1000)},
		"entry":      {head: "<feed><entry>", body: strings.Repeat("<link href='x'/>", 100)},
		"bases":      {head: "<feed>", body: strings.Repeat("<a xml:base='"+strings.Repeat("x/", 1000)+"'>", 10)},
	} {
		t.Run(name, func(t *testing.T) {
			doc.n = size
			runtime.GC()
			before := heap()
			limits := DefaultLimits()
			limits.MaxToken = 64 << 10
			_, stats, err := Parse(doc, limits, func(Link) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if peak := max(doc.peak, heap()); peak > before+bound {
				t.Errorf("heap grew from %d to %d bytes; %+v", before, peak, stats)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, doc := range []string{
		oneURL, "https://h/1\nhttps://h/2", "<rss><item><link>x</link><guid>http://h/</guid></item></rss>",
		"<feed xml:base='a'><entry><link href='b'/></entry></feed>", "<rdf:RDF><item rdf:about='http://h/'/></rdf:RDF>",
		"<sitemapindex><sitemap><loc>x</sitemap>", "\xff\xfe<\x00a\x00", "<urlset>< <url><loc>&x;</loc>", zip(f, oneURL),
		`{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a"},{"external_url":"b","x":[{"url":1}]}]}`,
		"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset><![CDATA[", "<?xml version='1.0' encoding='iso-2022-kr'?><rss>\x0e",
	} {
		f.Add([]byte(doc))
	}
	limits := Limits{MaxBytes: 1 << 16, MaxLinks: 20, MaxToken: 1 << 10, MaxDepth: 10, MaxURL: 64}
	f.Fuzz(func(t *testing.T, doc []byte) {
		kind, stats, links := parseAll(t, string(doc), limits)
		if kind == Unknown && len(links) > 0 || len(links) > limits.MaxLinks || stats.Bytes > limits.MaxBytes {
			t.Errorf("%v %+v", kind, stats)
		}
		for _, l := range links {
			if l.URL == "" || len(l.URL) > limits.MaxURL || l.URL != strings.TrimSpace(l.URL) {
				t.Errorf("link %q", l.URL)
			}
		}
		SniffFeed(doc)
	})
}

func BenchmarkParse(b *testing.B) {
	var doc strings.Builder
	doc.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` +
		"\n")
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&doc, "  <url>\n    <loc>https://www.h.example/articles/2024/item-%d.html</loc>\n"+
			"    <lastmod>2024-05-06T07:08:09+00:00</lastmod>\n    <priority>0.5</priority>\n  </url>\n", i)
		fmt.Fprintf(&text, "https://www.h.example/articles/2024/item-%d.html\n", i)
	}
	doc.WriteString("</urlset>\n")
	for name, s := range map[string]string{"xml": doc.String(), "text": text.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(strings.NewReader(s), DefaultLimits(), func(Link) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWhatFollowsALongTokenIsFound(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxToken, limits.MaxURL = 1000, 500
	long := strings.Repeat("y", 5000)
	for name, between := range map[string]string{
		"loc":                 "<url><loc>https://h/" + long + "</loc></url>",
		"tag":                 "<url a='" + long + "'><loc>https://h/2</loc></url>",
		"comment":             "<!-- " + long + " <url><loc>https://h/no</loc></url> -->",
		"comment behind text": " x <!--" + long + "<url><loc>https://h/no</loc></url>-->",
		"CDATA":               "<url><x><![CDATA[" + long + " <loc>https://h/no</loc> ]]></x></url>",
		"CDATA behind text":   "<url><x>text <![CDATA[" + long + " ]] > <loc>https://h/no</loc> ]]]></x></url>",
		"instruction":         "<?php " + long + " ?>",
		"several":             strings.Repeat("<url><loc>"+long+"</loc></url>", 20),
	} {
		doc := "<urlset><url><loc>https://h/1</loc></url>" + between +
			"<url><loc>https://h/3</loc></url></urlset>"
		_, stats, links := parseAll(t, doc, limits)
		var urls []string
		for _, l := range links {
			urls = append(urls, l.URL)
		}
		if got := strings.Join(urls, " "); got != "https://h/1 https://h/3" || stats.Truncated || stats.Skipped == 0 {
			t.Errorf("%s: %.200s, %+v", name, got, stats)
		}
	}
}
