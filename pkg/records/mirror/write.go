package mirror

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Options say what to write where.
type Options struct {
	Archives []string // directories of WARC files
	Dir      string   // of the copy; made if need be. Files of an earlier copy are replaced
	// Canonical gives URLs the form by which the crawl knows them.
	Canonical func(weburl.URL) weburl.URL
	Seeds     []weburl.URL // the start page leads to them
	// Pages are the pages of the crawl, to count those that were fetched before there was an archive; nil: not counted.
	Pages iter.Seq2[weburl.URL, error]
	// Keep says which URLs belong to the crawl, where an archive holds several; nil: all do.
	Keep func(context.Context, []weburl.URL) ([]bool, error)
}

// Summary is what a copy holds.
type Summary struct {
	Files   int   // files written
	Pages   int   // of them, HTML
	Bytes   int64 // of all files
	Missing int   // references to assets that are not in the archive: they lead to the network
	Damaged int   // answers whose body is not in the archive
	Absent  int   // pages of the crawl that are not in the archive
}

// partName is the file that is being written; it gets its name when it is whole.
const partName = ".whirlpool-part"

// maxText is the largest page or style sheet that is rewritten; a larger one is copied.
const maxText = 1 << 28

// Write writes the copy. Killed at any instant it leaves whole files only, and done again it writes the same ones.
func Write(ctx context.Context, opt Options) (s Summary, err error) {
	x, err := indexed(ctx, opt)
	if err != nil {
		return s, err
	}
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return s, fmt.Errorf("mirror: %w", err)
	}
	root, err := os.OpenRoot(opt.Dir)
	if err != nil {
		return s, fmt.Errorf("mirror: %w", err)
	}
	w := &writer{root: root, index: x, summary: Summary{Damaged: x.damaged},
		find: func(u weburl.URL) *entry { return x.find(u, opt.Canonical) }}
	defer func() { err = errors.Join(err, root.Close()) }()
	all := x.entries()
	for _, e := range inArchiveOrder(all) {
		if err := ctx.Err(); err != nil {
			return w.summary, err
		}
		if err := w.entry(e); err != nil {
			return w.summary, fmt.Errorf("mirror %s: %w", e.url, err)
		}
	}
	if opt.Pages != nil {
		for u, err := range opt.Pages {
			if err != nil {
				return w.summary, err
			}
			if x.byURL[u.String()] == nil {
				w.summary.Absent++
			}
		}
	}
	return w.summary, w.start(opt.Seeds)
}

// indexed returns what the archives hold of the crawl.
func indexed(ctx context.Context, opt Options) (*index, error) {
	files, err := archiveFiles(opt.Archives)
	if err != nil {
		return nil, err
	}
	x, err := readIndex(ctx, files)
	if err == nil && opt.Keep != nil {
		err = x.keep(ctx, opt.Keep)
	}
	if err == nil {
		err = x.sniff(ctx)
	}
	return x, err
}

// inArchiveOrder are the entries with files, in the order of their bodies, so that the archive is read once; and once
// more for scripts, whose encoding may be that of the pages.
func inArchiveOrder(all []*entry) []*entry {
	out := slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return e.name == "" })
	slices.SortStableFunc(out, func(a, b *entry) int {
		if script := isScript(mediaType(a.ctype)); script != isScript(mediaType(b.ctype)) {
			if script {
				return 1
			}
			return -1
		}
		if a.at.file != b.at.file {
			return int(a.at.file) - int(b.at.file)
		}
		return int(min(max(a.at.offset-b.at.offset, -1), 1))
	})
	return out
}

type writer struct {
	root    *os.Root
	index   *index
	find    func(weburl.URL) *entry
	summary Summary
}

// entry writes the file of an entry.
func (w *writer) entry(e *entry) error {
	media := mediaType(e.ctype)
	return w.index.capture(e).Body(func(body io.Reader) error {
		if !rewrites(media) {
			return w.file(e.name, body)
		}
		text, err := io.ReadAll(io.LimitReader(body, maxText))
		if err != nil {
			return err
		}
		r := &rewriter{find: w.find, self: e, base: e.url}
		out := r.file(text)
		w.summary.Missing += r.missing
		if isPage(media) {
			w.summary.Pages++
		}
		return w.file(e.name, io.MultiReader(strings.NewReader(string(out)), body))
	})
}

// file writes a file that is whole or not there.
func (w *writer) file(name string, content io.Reader) error {
	if dir := path.Dir(name); dir != "." {
		if err := w.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := w.root.OpenFile(partName, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.root.Rename(partName, name)
	}
	if err != nil {
		return errors.Join(err, w.root.Remove(partName))
	}
	w.summary.Files++
	w.summary.Bytes += n
	return nil
}

// start writes the page that leads to the seeds; to the only one at once.
func (w *writer) start(seeds []weburl.URL) error {
	if info, err := w.root.Stat("index.html"); len(seeds) == 0 || err == nil && info.IsDir() {
		return nil // a host has that name
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Copy of a crawl</title>\n")
	r := &rewriter{self: &entry{name: "index.html"}}
	for i, u := range seeds {
		href := u.String()
		if e := w.find(u); e != nil {
			href = r.relative(e, u.Fragment())
		}
		if i == 0 && len(seeds) == 1 {
			fmt.Fprintf(&b, "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n", html.EscapeString(href))
		}
		fmt.Fprintf(&b, "<p><a href=\"%s\">%s</a></p>\n", html.EscapeString(href), html.EscapeString(u.String()))
	}
	if err := w.file("index.html", strings.NewReader(b.String())); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	return nil
}
