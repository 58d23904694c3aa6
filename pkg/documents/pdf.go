package documents

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// pdfMemory is how much memory PDFium has for one document, in WebAssembly's pages of 64 KiB: 256 MiB.
const pdfMemory = 4096

// maxPageLinks is how many links are looked at on a page: a page of a million is a trap.
const maxPageLinks = 2000

// pdfReader reads PDF files. It compiles PDFium when the first comes, and keeps the result in a directory for the
// processes after it, if there is one.
type pdfReader struct {
	cache string
	pool  pdfium.Pool
}

func (p *pdfReader) open(r *crawl.OpenRequest) (*crawl.Opened, error) {
	if p.pool == nil {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	pdf, err := p.pool.GetInstance(time.Minute)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pdf.Close() }() // its memory goes whatever it says
	return readPDF(pdf, r), nil
}

// start compiles PDFium, or takes it from the cache. A cache that cannot be used is done without.
func (p *pdfReader) start() (err error) {
	if p.cache != "" {
		sweepCache(p.cache)
		if cache, e := wazero.NewCompilationCacheWithDir(p.cache); e == nil {
			if p.pool, err = compilePDFium(cache); err == nil {
				sealCache(p.cache)
				return nil
			}
			eachCached(p.cache, func(name string) { _ = os.Remove(name) }) // what it holds, another process cannot use either
		}
	}
	p.pool, err = compilePDFium(nil)
	return err
}

// compilePDFium compiles PDFium. It has no file system, no arguments and no environment. cache may be nil.
func compilePDFium(cache wazero.CompilationCache) (pdfium.Pool, error) {
	cfg := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(pdfMemory)
	if cache != nil {
		cfg = cfg.WithCompilationCache(cache)
	}
	return webassembly.Init(webassembly.Config{Context: context.Background(), MinIdle: 0, MaxIdle: 1, MaxTotal: 1,
		RuntimeConfig: cfg, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: os.Stderr})
}

// readPDF reads a document. An error of PDFium, a trap of its sandbox too, is the document's fault.
func readPDF(pdf pdfium.Pdfium, r *crawl.OpenRequest) *crawl.Opened {
	doc, err := pdf.OpenDocument(&requests.OpenDocument{File: &r.Body})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return failed(crawl.ReasonDocumentEncrypted, "it wants a password")
	case err != nil:
		return brokenPDF("", err)
	}
	count, err := pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return brokenPDF("", err)
	}
	c := newCollector(r)
	pdfMeta(pdf, doc.Document, &c.out)
	bad, first := 0, error(nil)
	for i := 0; i < count.PageCount && !c.full(); i++ {
		if !c.page() {
			break
		}
		if err := pdfPage(pdf, doc.Document, i, c); err != nil {
			bad++
			if first == nil {
				first = err
			}
		}
	}
	if read := c.out.Pages; bad > 0 && bad == read {
		return brokenPDF("no page of it can be read; ", first)
	}
	c.out.Pages = count.PageCount
	return c.done()
}

// brokenPDF is a document that PDFium does not read. Where the sandbox stopped it, that is told from other errors:
// PDFium gives up where it gets no more memory, and at faults of its own.
func brokenPDF(prefix string, err error) *crawl.Opened {
	if strings.Contains(err.Error(), "wasm error") {
		return failed(crawl.ReasonDocumentCrash,
			prefix+"PDFium was stopped: it has 256 MiB, or has a fault of its own; "+firstLine(err.Error()))
	}
	return failed(crawl.ReasonDocumentBroken, prefix+"PDFium: "+err.Error())
}

// pdfMeta reads the document information dictionary.
func pdfMeta(pdf pdfium.Pdfium, doc references.FPDF_DOCUMENT, out *crawl.Opened) {
	tags := []string{"Title", "Author", "CreationDate", "ModDate"}
	meta, err := pdf.GetMetaData(&requests.GetMetaData{Document: doc, Tags: &tags})
	if err != nil {
		return // a document without the dictionary
	}
	for _, t := range meta.Tags {
		switch t.Tag {
		case "Title":
			out.Title = t.Value
		case "Author":
			out.Author = t.Value
		case "CreationDate":
			out.Created = pdfDate(t.Value)
		case "ModDate":
			out.Modified = pdfDate(t.Value)
		}
	}
}

// pdfDate reads a date as D:20260102030405+01'00' (ISO 32000-1, 7.9.4); zero where it is none.
func pdfDate(s string) time.Time {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	s = strings.Replace(s, "Z0000", "Z", 1)
	for _, form := range []string{"20060102150405-0700", "20060102150405Z0700", "20060102150405", "200601021504",
		"20060102"} {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// pdfPage adds text and links of a page.
func pdfPage(pdf pdfium.Pdfium, doc references.FPDF_DOCUMENT, index int, c *collector) error {
	page, err := pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return err
	}
	ref := requests.Page{ByReference: &page.Page}
	// what it held goes with the document
	defer func() { _, _ = pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	text, err := pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: ref})
	if err != nil {
		return err
	}
	defer func() { _, _ = pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	chars, err := pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return err
	}
	count := chars.Count
	if limit := c.req.Text; limit > 0 {
		count = min(count, limit+1) // more than that is cut anyway
	}
	if count > 0 {
		got, err := pdf.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, StartIndex: 0, Count: count})
		if err != nil {
			return err
		}
		addLines(c, got.Text)
	}
	pdfLinks(pdf, doc, ref, c)
	return nil
}

// hyphens are what PDFium gives for a hyphen at the end of a line that divides a word.
var hyphens = strings.NewReplacer("\x02\r\n", "", "\ufffe\r\n", "", "\x02", "", "\ufffe", "", "\x00", "")

func addLines(c *collector, text string) {
	for line := range strings.Lines(hyphens.Replace(text)) {
		c.add(line)
		c.end()
		if c.full() {
			c.cut(cutText)
			return
		}
	}
}

// pdfLinks notes the links of a page that lead to URLs.
func pdfLinks(pdf pdfium.Pdfium, doc references.FPDF_DOCUMENT, page requests.Page, c *collector) {
	for pos, n := 0, 0; n < maxPageLinks; n++ {
		link, err := pdf.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: page, StartPos: pos})
		if err != nil || link.Link == nil || link.NextStartPos == nil || *link.NextStartPos <= pos {
			return
		}
		pos = *link.NextStartPos
		action, err := pdf.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: *link.Link})
		if err != nil || action.Action == nil {
			continue
		}
		uri, err := pdf.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: doc, Action: *action.Action})
		if err == nil && uri.URIPath != nil {
			c.link(strings.TrimRight(*uri.URIPath, "\x00"))
		}
	}
	c.cut(cutLinks)
}
