package topical

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Page is what a model sees of a page.
type Page struct {
	Name, Title, Text string
}

const (
	// maxPages is how many pages are taken from one pages.jsonl: the first.
	maxPages = 2000
	// maxFile bounds a file with one page.
	maxFile = 16 << 20
)

// Pages reads what is named: a page of each URL, file and text, and of a directory or pages.jsonl all pages.
func (s Sources) Pages(ctx context.Context, names []string, each func(Page) error) error {
	for _, name := range names {
		var err error
		switch {
		case crawl.IsURL(name) && s.Fetch == nil:
			err = errors.New("this program does not fetch examples: name files or texts, or let whirlpool crawl or seed do it")
		case crawl.IsURL(name):
			p := Page{Name: name}
			if p.Title, p.Text, err = s.Fetch(ctx, name); err == nil {
				err = each(p)
			}
		case crawl.IsText(name):
			err = each(Page{Name: "text", Text: name})
		case !s.Files:
			err = errors.New("a server reads no files of its own for a job: give a text of some words")
		default:
			err = s.file(name, each)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}

func (s Sources) file(name string, each func(Page) error) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		name = filepath.Join(name, "pages.jsonl")
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if filepath.Ext(name) == ".jsonl" {
		return records(f, each)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return err
	}
	p := Parsed(name, b)
	if p.Title+p.Text == "" {
		return errors.New("it has no text")
	}
	return each(p)
}

var errEnough = errors.New("enough")

// records reads a pages.jsonl. Copies have no text, and are passed over.
func records(r io.Reader, each func(Page) error) error {
	n := 0
	err := jsonl.EachRecord(r, func(rec *crawl.Record) error {
		if rec.Text == "" {
			return nil
		}
		if n++; n > maxPages {
			return errEnough
		}
		return each(Page{rec.URL.String(), rec.Title, rec.Text})
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err == nil && n == 0:
		return errors.New("it has no page with a text")
	}
	return err
}

// Parsed is the page in a file: of HTML where its name ends so, else of plain text.
func Parsed(name string, body []byte) Page {
	kind := "text/plain; charset=utf-8"
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		kind = "text/html"
	}
	base, _ := weburl.Parse("http://localhost/") // it parses
	r := parser.Parse(body, kind, base, parser.DefaultOptions())
	return Page{name, r.Title, r.Text}
}

func (s Sources) vectors(ctx context.Context, key string, names []string) (out []topic.Vector, err error) {
	var read topic.Reader
	err = s.Pages(ctx, names, func(p Page) error {
		v := read.Read(p.Title, p.Text)
		if len(v.IDs) == 0 {
			return errors.New("it has no words")
		}
		out = append(out, v.Clone())
		return nil
	})
	if err != nil {
		return nil, &crawl.KeyError{Key: key, Problem: err.Error()}
	}
	return out, nil
}
