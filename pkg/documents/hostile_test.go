package documents

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

const docx = ooxml + "wordprocessingml.document"

// hostile are documents that are made to harm whoever reads them, or that cannot be read. Any of the reasons will do;
// none means that what can be read is.
func hostile(t testing.TB) []struct {
	name, mediaType string
	body            []byte
	reasons         string
} {
	const pdf = "application/pdf"
	const much = 320 << 20 // more than PDFium has, and more than is unpacked of an archive
	word := func(xml io.Reader) []byte { return archive(t, map[string]io.Reader{"word/document.xml": xml}) }
	return []struct {
		name, mediaType string
		body            []byte
		reasons         string
	}{
		{"empty", pdf, nil, "document-broken"},
		{"no PDF", pdf, []byte("<html>an error page"), "document-broken"},
		{"half a PDF", pdf, pdfPages(3)[:300], "document-broken"},
		{"encrypted PDF", pdf, pdfFile("/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"+
			strings.Repeat("41", 32)+
			"> /U <"+strings.Repeat("42", 32)+"> >>", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [] /Count 0 >>"),
			"document-encrypted"},
		{"PDF whose pages contain themselves", pdf, pdfFile("", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>"), " document-broken document-time"},
		{"PDF of a billion pages by its word", pdf, pdfFile("", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [3 0 R] /Count 1000000000 >>", "<< /Type /Page /Parent 2 0 R >>"),
			" document-broken document-time document-memory"},
		{"PDF whose cross references lead round", pdf, pdfFile("/Prev 9", "<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Kids [] /Count 0 >>"), " document-broken"},
		{"PDF of nested arrays", pdf, onePage(stream("", strings.Repeat("[", 2<<20))), " document-broken document-time"},
		{"PDF of nested dictionaries", pdf,
			pdfFile("", "<< /Type /Catalog /Pages 2 0 R /X "+strings.Repeat("<< /X ", 300_000),
				"<< /Type /Pages /Kids [] /Count 0 >>"), " document-broken"},
		{"PDF with a form that contains itself", pdf, onePage(stream("", "/X Do /X Do"),
			stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>", "/X Do /X Do")),
			""},
		{"PDF with a deflate bomb", pdf, onePage(stream("/Filter /FlateDecode", deflated(t, " ", much, 1))),
			" document-broken document-memory document-time document-crash"},
		{"PDF with a bomb in a bomb", pdf, onePage(stream("/Filter [/FlateDecode /FlateDecode]", deflated(t, " ", much, 2))),
			" document-broken document-memory document-time document-crash"},
		{"PDF with a bomb of text", pdf, onePage(stream("/Filter /FlateDecode",
			deflated(t, "BT /F1 12 Tf 1 1 Td (some text of the bomb) Tj ET\n", much/2, 1))),
			" document-broken document-memory document-time document-crash"},
		{"no archive", docx, []byte("<html>an error page"), "document-broken"},
		{"half an archive", docx, word(strings.NewReader("<p><t>x</t></p>"))[:60], "document-broken"},
		{"an archive of something else", docx, archive(t, texts("a.txt", "x")), "document-broken"},
		{"encrypted docx", docx, append(append([]byte{}, compound...), make([]byte, 600)...), "document-encrypted"},
		{"encrypted odt", odf + "text",
			archive(t, texts("content.xml", "x", "META-INF/manifest.xml", "<m><encryption-data/></m>")),
			"document-encrypted"},
		{"docx with a zip bomb", docx, word(&repeated{pattern: []byte(" "), left: much / 2}),
			"document-broken document-time"},
		{"docx with a bomb of text", docx,
			word(io.MultiReader(strings.NewReader("<p><t>"), &repeated{pattern: []byte("some text "), left: much / 2})),
			"document-broken document-time"},
		{"docx with nested elements", docx, word(&repeated{pattern: []byte("<a>"), left: much / 2}), "document-broken"},
		{"docx with an element of many attributes", docx, word(io.MultiReader(strings.NewReader("<a "),
			&repeated{pattern: []byte(`a="" `), left: much / 2})),
			" document-broken document-memory document-time document-crash"},
		{"docx with entities", docx, word(
			strings.NewReader(`<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><p><t>&b;</t></p>`)),
			" document-broken"},
		{"xlsx with a bomb of shared strings", ooxml + "spreadsheetml.sheet", archive(t, map[string]io.Reader{
			"xl/workbook.xml":      strings.NewReader("<w/>"),
			"xl/sharedStrings.xml": &repeated{pattern: []byte("<si/>"), left: much / 2}}),
			" document-broken document-memory document-time document-crash"},
	}
}

// Whatever a document holds, it ends in time with a reason or with what could be read, and the next one is opened.
func TestHostileDocumentsHarmNothing(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("it makes bombs of hundreds of megabytes")
	}
	p := newCompiler(t, func(c *Config) { c.Workers = 1 })
	good := request("application/pdf", pdfPages(1))
	open(t, p, good)
	for _, tt := range hostile(t) {
		t.Run(tt.name, func(t *testing.T) {
			r := request(tt.mediaType, tt.body)
			if r.Time = 2 * time.Minute; strings.Contains(tt.reasons, "document-time") {
				r.Time = 5 * time.Second
			}
			began := time.Now()
			got := open(t, p, r)
			t.Logf("%d bytes, %v, peak %s: %q %s; %d bytes of text, cut %v", len(tt.body),
				time.Since(began).Round(time.Millisecond), peak(p), got.Reason, got.Detail, len(got.Text), got.Cut)
			if !strings.Contains(" "+tt.reasons+" ", " "+got.Reason+" ") || got.Reason != "" && got.Detail == "" ||
				len(got.Text) > r.Text {
				t.Errorf("reason %q (%s), text of %d bytes; want one of %q", got.Reason, got.Detail, len(got.Text), tt.reasons)
			}
			if next := open(t, p, good); next.Reason != "" || next.Text == "" {
				t.Errorf("the next document: %+v", next)
			}
		})
	}
}

// What takes too long is killed, and told so; so is a process that dies.
func TestWhatTakesTooLongIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	p := newCompiler(t, func(c *Config) { c.Workers = 1 })
	open(t, p, request("application/pdf", pdfPages(1)))
	pages := 10_000
	if testing.Short() {
		pages = 2_000
	}
	r := request("application/pdf", pdfPages(pages))
	r.Pages, r.Time = 0, 5*time.Millisecond
	if got := open(t, p, r); got.Reason != crawl.ReasonDocumentTime || !strings.Contains(got.Detail, "documents.time") {
		t.Errorf("got %+v", got)
	}
	open(t, p, request("application/pdf", pdfPages(1)))
	p.mu.Lock()
	if err := p.idle[0].cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	p.mu.Unlock()
	if got := open(t, p, request("application/pdf", pdfPages(1))); got.Reason != "" &&
		got.Reason != crawl.ReasonDocumentCrash {
		t.Errorf("got %+v", got)
	}
}

func FuzzOffice(f *testing.F) {
	f.Add(archive(f, texts("word/document.xml", "<p><t>x</t></p>", "docProps/core.xml", core)))
	f.Add(archive(f, texts("content.xml", "<table><table-row><p>x</p></table-row></table>")))
	f.Add([]byte(fmt.Sprintf("PK%s", compound)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := request(docx, body)
		r.Text, r.Links = 100, 3
		for _, k := range []kind{kindOOXML, kindODF} {
			if got := openOffice(r, k); len(got.Text) > r.Text || len(got.Links) > r.Links {
				t.Errorf("text of %d bytes, %d links", len(got.Text), len(got.Links))
			}
		}
	})
}

// peak is the most memory that the pool's process has used (Linux); empty elsewhere.
func peak(p *Pool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return ""
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.idle[0].cmd.Process.Pid)) // other systems have none
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
