package wacz

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Version is the version of the format.
const Version = "1.1.1"

// Page is a page that readers list.
type Page struct {
	URL   weburl.URL
	At    time.Time
	Title string
}

// Options say what goes into a package.
type Options struct {
	Archives []string // directories of WARC files
	File     string   // that is written; its name ends in .wacz
	Title    string   // of the collection
	// Pages are the pages of the crawl. A seed that is among them is shown first.
	Pages iter.Seq2[Page, error]
	Seeds []weburl.URL
	Now   func() time.Time // nil: time.Now
}

// Summary is what a package holds.
type Summary struct {
	Archives int   // WARC files
	Captures int64 // lines of the index
	Pages    int64
	Bytes    int64 // of the package
}

// Write writes a package. It is whole or not there.
func Write(ctx context.Context, opt Options) (s Summary, err error) {
	if filepath.Ext(opt.File) != ".wacz" {
		return s, fmt.Errorf("%s: the name of a WACZ file ends in .wacz", opt.File)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	out, err := os.CreateTemp(filepath.Dir(opt.File), "."+filepath.Base(opt.File)+".*.part")
	if err != nil {
		return s, fmt.Errorf("write %s: %w", opt.File, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", opt.File, err)
			_ = os.Remove(out.Name()) // the error says more
		}
	}()
	w := &writer{opt: opt, pack: &pack{zip: zip.NewWriter(out), now: opt.Now().UTC()},
		sorter: newLineSorter(filepath.Dir(opt.File))}
	defer func() { err = errors.Join(err, w.sorter.close()) }()
	err = w.all(ctx)
	if err == nil {
		w.summary.Bytes, err = out.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, out.Chmod(0o644), out.Sync(), out.Close()); err != nil {
		return w.summary, err
	}
	return w.summary, os.Rename(out.Name(), opt.File)
}

type writer struct {
	opt     Options
	pack    *pack
	sorter  *lineSorter
	summary Summary
	main    Page
}

func (w *writer) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.archives, w.index, w.pages, w.manifest} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return w.pack.zip.Close()
}

// archives packs the files of the archive, and notes their captures.
func (w *writer) archives(ctx context.Context) error {
	taken := map[string]bool{}
	for n, dir := range w.opt.Archives {
		files, err := warc.Files(dir)
		if err != nil {
			return err
		}
		for _, file := range files {
			name := warc.FileName(file)
			if taken[name] { // of another machine with the same name
				name = fmt.Sprintf("%d-%s", n, name)
			}
			taken[name] = true
			if err := w.archive(ctx, file, name); err != nil {
				return err
			}
		}
	}
	if w.summary.Archives == 0 {
		return fmt.Errorf("%q hold no *.warc.gz files: name the directory of the archive", w.opt.Archives)
	}
	return nil
}

func (w *writer) archive(ctx context.Context, file, name string) error {
	end, err := warc.ReadCaptures(file, func(c *warc.Capture) error {
		line, err := cdxLine(c, name)
		if err == nil {
			err = w.sorter.add(line)
		}
		w.summary.Captures++
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return err
	}
	w.summary.Archives++
	return w.pack.store(ctx, "archive/"+name, file, end)
}

// index writes the index, sorted.
func (w *writer) index(context.Context) error {
	const name = "indexes/index.cdx.gz"
	out, err := w.pack.create(name, zip.Store)
	if err != nil {
		return err
	}
	c := newCDXWriter(out)
	if err := w.sorter.each(c.add); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	w.pack.done(name, out)
	return w.pack.write("indexes/index.idx", zip.Deflate, c.table.Bytes())
}

// page is a line of pages.jsonl.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	TS    string `json:"ts"`
	Title string `json:"title,omitempty"`
}

// pages writes the list of pages, with a header line.
func (w *writer) pages(ctx context.Context) error {
	const name = "pages/pages.jsonl"
	out, err := w.pack.create(name, zip.Deflate)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if _, err := io.WriteString(out,
		`{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}`+"\n"); err != nil {
		return err
	}
	seeds := map[weburl.URL]bool{}
	for _, s := range w.opt.Seeds {
		seeds[s] = true
	}
	for p, err := range w.opt.Pages {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if w.main.URL.IsZero() || seeds[p.URL] && !seeds[w.main.URL] {
			w.main = p
		}
		sum := sha256.Sum256([]byte(p.URL.String()))
		err = enc.Encode(page{ID: hex.EncodeToString(sum[:10]), URL: p.URL.String(), TS: p.At.UTC().Format(time.RFC3339),
			Title: p.Title})
		if err != nil {
			return err
		}
		w.summary.Pages++
	}
	w.pack.done(name, out)
	return nil
}

// dataPackage is datapackage.json.
type dataPackage struct {
	Profile      string     `json:"profile"`
	Version      string     `json:"wacz_version"`
	Title        string     `json:"title,omitempty"`
	Created      string     `json:"created"`
	Software     string     `json:"software"`
	MainPageURL  string     `json:"mainPageUrl,omitempty"`
	MainPageDate string     `json:"mainPageDate,omitempty"`
	Resources    []resource `json:"resources"`
}

// manifest writes what the package holds, and the digest of that.
func (w *writer) manifest(context.Context) error {
	d := dataPackage{Profile: "data-package", Version: Version, Title: w.opt.Title, Software: "Whirlpool/" + crawl.Version,
		Created: w.pack.now.Format(time.RFC3339), Resources: w.pack.resources}
	if !w.main.URL.IsZero() {
		d.MainPageURL, d.MainPageDate = w.main.URL.String(), w.main.At.UTC().Format(time.RFC3339)
	}
	content, err := indented(d)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	digest, err := indented(struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}{"datapackage.json", "sha256:" + hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	if err := w.pack.write("datapackage.json", zip.Deflate, content); err != nil {
		return err
	}
	return w.pack.write("datapackage-digest.json", zip.Deflate, digest)
}
