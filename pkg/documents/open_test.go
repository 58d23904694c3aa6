package documents

import (
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// request is for a document with the bounds of a usual job.
func request(mediaType string, body []byte) *crawl.OpenRequest {
	return &crawl.OpenRequest{MediaType: mediaType, Body: body, Pages: 1000, Text: 1 << 20, Links: 100,
		Time: 20 * time.Second}
}

func newPool(t testing.TB, change func(*Config)) *Pool {
	t.Helper()
	cfg := Default()
	cfg.Cache = compiled
	if change != nil {
		change(&cfg)
	}
	p := New(cfg)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func open(t testing.TB, p *Pool, r *crawl.OpenRequest) *crawl.Opened {
	t.Helper()
	got, err := p.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDocumentsGiveTextAndWhatTheySayOfThemselves(t *testing.T) {
	p := newCompiler(t, nil)
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, mediaType string
		body            []byte
		title, text     string
		pages           int
		cut             []string
	}{
		{"pdf", "application/pdf", pdfPages(2), "A report", "This is page 1 of the report\nThis is page 2 of the report", 2,
			nil},
		{"docx", ooxml + "wordprocessingml.document",
			archive(t, texts("docProps/core.xml", core, "word/_rels/document.xml.rels", link,
				"word/document.xml",
				`<w:document><w:body><w:p><w:r><w:t>One </w:t></w:r><w:r><w:t>line</w:t></w:r></w:p><w:p><w:r><w:t>two &amp; more</w:t>
			<w:instrText>hidden</w:instrText></w:r></w:p></w:body></w:document>`)), "A title", "One line\ntwo & more", 0, nil},
		{"xlsx", ooxml + "spreadsheetml.sheet", archive(t, texts("docProps/core.xml", core, "xl/workbook.xml", "<workbook/>",
			"xl/sharedStrings.xml", "<sst><si><t>name</t></si><si><r><t>pri</t></r><r><t>ce</t></r></si></sst>",
			"xl/worksheets/sheet10.xml", `<sheetData><row><c><v>10</v></c></row></sheetData>`,
			"xl/worksheets/sheet2.xml",
			`<sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c t="inlineStr"><is><t>lamp</t></is></c>`+
				`<c><v>12.5</v></c><c t="s"><v>99</v></c></row></sheetData>`,
			"xl/worksheets/_rels/sheet2.xml.rels", link)), "A title", "name price\nlamp 12.5\n10", 2, nil},
		{"pptx", ooxml + "presentationml.presentation",
			archive(t, texts("docProps/core.xml", core, "ppt/presentation.xml", "<p/>",
				"ppt/slides/slide1.xml", "<p:sld><a:p><a:r><a:t>First slide</a:t></a:r></a:p></p:sld>",
				"ppt/slides/_rels/slide1.xml.rels", link)),
			"A title", "First slide", 1, nil},
		{"odt", odf + "text", archive(t,
			texts("meta.xml", `<office:meta><dc:title>A title</dc:title><meta:initial-creator>Ada</meta:initial-creator>`+
				`<meta:creation-date>2026-01-02T03:04:05</meta:creation-date></office:meta>`,
				"content.xml",
				`<office:text><text:h>Head</text:h><text:p>See<text:s/><text:a xlink:href="http://a.test/next">this</text:a></text:p></office:text>`)),
			"A title", "Head\nSee this", 0, nil},
		{"ods", odf + "spreadsheet", archive(t,
			texts("meta.xml", `<m><dc:title>A title</dc:title><dc:creator>Ada</dc:creator>`+
				`<meta:creation-date>2026-01-02T03:04:05.000</meta:creation-date></m>`,
				"content.xml",
				`<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>
			<text:a xlink:href="http://a.test/next">b</text:a></text:p></table:table-cell></table:table-row></table:table>`)), "A title", "a b", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := open(t, p, request(tt.mediaType, tt.body))
			if got.Reason != "" || got.Title != tt.title || got.Author != "Ada" || got.Text != tt.text ||
				got.Pages != tt.pages || !got.Created.Equal(day) || !slices.Equal(got.Links, []string{"http://a.test/next"}) ||
				!slices.Equal(got.Cut, tt.cut) {
				t.Errorf("got %+v\nwant title %q, text %q, %d pages", got, tt.title, tt.text, tt.pages)
			}
		})
	}
}

func TestBoundsOfADocument(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	p := newCompiler(t, nil)
	r := request("application/pdf", pdfPages(10_000))
	got := open(t, p, r)
	if got.Pages != 10_000 || !slices.Contains(got.Cut, cutPages) || got.Reason != "" || len(got.Text) < 20_000 {
		t.Errorf("of 10,000 pages: %d, cut %v, %d bytes of text, %s", got.Pages, got.Cut, len(got.Text), got.Reason)
	}
	r = request("application/pdf", pdfPages(3))
	r.Text = 40
	if got = open(t, p, r); len(got.Text) != 40 || !slices.Equal(got.Cut, []string{cutText}) {
		t.Errorf("text of %d bytes, cut %v", len(got.Text), got.Cut)
	}
}

// A process is used for some documents, and another takes its place; one that waits ends.
func TestProcessesAreRenewed(t *testing.T) {
	p := newPool(t, func(c *Config) { c.Workers, c.Renew = 1, 2 })
	doc := request(odf+"text", archive(t, texts("content.xml", "<p>text</p>")))
	var pids []int
	for range 4 {
		if got := open(t, p, doc); got.Text != "text" {
			t.Fatalf("got %+v", got)
		}
		p.mu.Lock()
		if len(p.idle) == 1 {
			pids = append(pids, p.idle[0].cmd.Process.Pid)
		} else {
			pids = append(pids, 0)
		}
		p.mu.Unlock()
	}
	if pids[0] == 0 || pids[1] != 0 || pids[2] == 0 || pids[2] == pids[0] || pids[3] != 0 {
		t.Errorf("processes that waited after each document: %v; want two that opened two each", pids)
	}
}

func TestAPoolThatIsClosedOpensNothing(t *testing.T) {
	p := New(Default())
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), request("application/pdf", nil)); err == nil {
		t.Error("it opened a document")
	}
}
