//go:build unix

package parser

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what this process has used of the processors: on a busy machine the time of the clock says little.
func cpuTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExtract says what Markdown and structured data cost beside a parse without them.
func BenchmarkExtract(b *testing.B) {
	base := mustURL(b, "http://www.example.com/dir/page.html")
	for _, x := range []struct {
		name                 string
		markdown, structured bool
	}{{"none", false, false}, {"markdown", true, false}, {"structured", false, true}} {
		opt := DefaultOptions()
		opt.Markdown, opt.Structured = x.markdown, x.structured
		for _, s := range append(benchmarkPages(b), corpus{"article", [][]byte{article()}, int64(len(article()))}) {
			b.Run(x.name+"/"+s.name, func(b *testing.B) {
				b.SetBytes(s.size)
				b.ReportAllocs()
				before := cpuTime(b)
				for b.Loop() {
					for _, doc := range s.docs {
						HTML(doc, "text/html; charset=utf-8", base, opt)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N*len(s.docs)), "cpu-µs/page")
			})
		}
	}
}

// article is the page with what news sites put into theirs: JSON-LD, OpenGraph and microdata.
func article() []byte {
	head := `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"A page","author":[{"@type":"Person",` +
		`"name":"A. Writer"}],"datePublished":"2026-01-02T03:04:05Z","dateModified":"2026-01-03T03:04:05Z","image":["https://example.com/a.jpg"]}</script>` +
		`<meta property="og:title" content="A page"><meta property="og:type" content="article"><meta name="twitter:card" content="summary"><meta name="author" content="A. Writer">`
	doc := bytes.Replace(page(), []byte("</head>"), []byte(head+"</head>"), 1)
	return bytes.Replace(doc, []byte(`<main id="content">`),
		[]byte(`<main id="content" itemscope itemtype="https://schema.org/Article"><span itemprop="author">A. Writer</span>`),
		1)
}
