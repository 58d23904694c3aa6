package parsetool

import (
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Record makes the record of a page that was read: what its document says, and what is extracted. base is the URL of
// the page.
func Record(base string, r io.Reader, what crawl.Extract) (*crawl.Record, error) {
	page, err := weburl.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base URL %q: %w", base, err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	res := parser.Parse(body, "", page, parser.Options{GuessLang: true, Markdown: what.Markdown,
		Structured: what.Structured})
	return &crawl.Record{URL: page, FinalURL: page, Title: res.Title, Text: res.Text, Lang: res.Lang, Charset: res.Charset,
		ContentType: res.MediaType, Canonical: res.Canonical, Cut: res.Cut, Extracted: res.Extracted}, nil
}
