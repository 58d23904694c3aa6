package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallPDF = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count " +
	"1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 " +
	"R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 44>>stream\n" +
	"BT /F 12 Tf 9 99 Td (A text in a PDF) Tj ET  \nendstream endobj\ntrailer<</Root 1 0 R>>"

// A crawl with --documents stores the text of documents, follows their links and says of each that cannot be opened
// why. Without it they are refused.
func TestACrawlReadsDocuments(t *testing.T) {
	var word bytes.Buffer
	w := zip.NewWriter(&word)
	for name, content := range map[string]string{"word/document.xml": "<p><t>The minutes of the meeting</t></p>",
		"word/_rels/document.xml.rels": `<Relationships><Relationship Type="x/hyperlink" Target="/linked.html" TargetMode="External"/></Relationships>`,
		"docProps/core.xml":            "<c><dc:title>Minutes</dc:title><dc:creator>Ada</dc:creator></c>"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	answers := map[string]struct{ kind, body string }{
		"/": {"text/html", "<a href=a.pdf>a</a><a href=m.docx>m</a><a href=broken.pdf>b</a><a " +
			"href=locked.docx>l</a><a href=t.csv>t</a>"},
		"/a.pdf":       {"application/pdf", smallPDF},
		"/m.docx":      {office, word.String()},
		"/broken.pdf":  {"application/pdf", "no PDF at all"},
		"/locked.docx": {office, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on"},
		"/t.csv":       {"text/csv", "name,price\nlamp,12\n"},
		"/linked.html": {"text/html", "<p>linked from a document"},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", a.kind)
		fmt.Fprint(w, a.body)
	}))
	t.Cleanup(srv.Close)
	dir := filepath.Join(t.TempDir(), "crawl")
	args := []string{"crawl", srv.URL + "/", "-o", dir, "--allow-private", "--delay", "0s", "--no-sitemaps", "--quiet"}
	must(t, append(args, "--documents")...)
	pages := records(t, dir)
	for path, want := range map[string]string{"/a.pdf": "A text in a PDF", "/m.docx": "The minutes of the meeting",
		"/t.csv": "lamp,12", "/linked.html": "linked from a document"} {
		if r := pages[srv.URL+path]; r == nil || !strings.Contains(r.Text, want) {
			t.Errorf("%s is stored as %+v, want %q", path, r, want)
		}
	}
	if r := pages[srv.URL+"/m.docx"]; r != nil &&
		(r.Title != "Minutes" || len(r.Fields) != 1 || r.Fields[0].Value != "Ada") {
		t.Errorf("the docx says %q, %v of itself", r.Title, r.Fields)
	}
	log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
	if err != nil {
		t.Fatal(err)
	}
	for path, reason := range map[string]string{"/broken.pdf": "document-broken", "/locked.docx": "document-encrypted"} {
		if !strings.Contains(string(log), reason) || pages[srv.URL+path] != nil {
			t.Errorf("%s: want %s in crawl.log and no record:\n%s", path, reason, log)
		}
		if out := must(t, "explain", "-o", dir, srv.URL+path); !strings.Contains(out, "["+reason+"]") {
			t.Errorf("explain %s: %s", path, out)
		}
	}
	if r := whirlpool(t, "audit", "-o", dir); r.exit != exitOK {
		t.Errorf("audit: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	must(t, append(args, "--fresh")...)
	if pages = records(t, dir); len(pages) != 1 {
		t.Errorf("without --documents %d pages are stored, want 1", len(pages))
	}
}
