package mirror

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// place is where a response lies in the archive.
type place struct {
	file           int32 // of index.files
	offset, length int64
}

// entry is the last answer of a URL that says what to show for it.
type entry struct {
	url    weburl.URL
	at     place
	date   time.Time
	ctype  string     // the Content-Type header, or what the body tells where that does not
	target weburl.URL // where it redirects to; zero: it has a body
	name   string     // of its file, with slashes
	// charset is the encoding of a page that shows it, which scripts have that tell none; "": UTF-8.
	charset string
}

// index knows the answers of an archive: some 300 bytes a URL.
type index struct {
	files   []string
	byURL   map[string]*entry
	bodies  map[[32]byte]place // by payload digest, for revisits
	ctypes  map[string]string  // each once
	damaged int                // revisits whose body is not in the archive
}

// readIndex reads the captures of all files.
func readIndex(ctx context.Context, files []string) (*index, error) {
	x := &index{files: files, byURL: map[string]*entry{}, bodies: map[[32]byte]place{}, ctypes: map[string]string{}}
	for i, file := range files {
		_, err := warc.ReadCaptures(file, func(c *warc.Capture) error {
			x.add(int32(i), c)
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

// add notes a capture, if it is newer than what is known of its URL.
func (x *index) add(file int32, c *warc.Capture) {
	at := place{file, c.Offset, c.Length}
	digest, known := digestOf(c.Digest)
	if c.Type == "response" && known {
		x.bodies[digest] = at
	}
	u, err := weburl.Parse(c.URL)
	if err != nil {
		return
	}
	e := &entry{url: u, at: at, date: c.Date, ctype: x.once(c.Header.Get("Content-Type"))}
	switch {
	case c.Status/100 == 3 && c.Status != 304:
		if e.target, err = u.Resolve(c.Header.Get("Location")); err != nil {
			return
		}
	case c.Status/100 != 2 || c.Status == 204 || c.Status == 205,
		c.Status == 206 && !crawl.IsWhole(c.Header.Get("Content-Range")):
		return // an error, or nothing to show
	case c.Type == "revisit":
		var found bool
		if e.at, found = x.bodies[digest]; !known || !found {
			x.damaged++
			return
		}
	}
	if old := x.byURL[u.String()]; old == nil || !e.date.Before(old.date) {
		x.byURL[u.String()] = e
	}
}

// keepBatch is how many URLs are asked about at once.
const keepBatch = 1_000

// keep forgets the URLs that belong to other crawls.
func (x *index) keep(ctx context.Context, belong func(context.Context, []weburl.URL) ([]bool, error)) error {
	for batch := range slices.Chunk(slices.Collect(maps.Values(x.byURL)), keepBatch) {
		urls := make([]weburl.URL, len(batch))
		for i, e := range batch {
			urls[i] = e.url
		}
		yes, err := belong(ctx, urls)
		if err != nil {
			return err
		}
		for i, u := range urls {
			if !yes[i] {
				delete(x.byURL, u.String())
			}
		}
	}
	return nil
}

// sniffBytes is how much of a body tells its type.
const sniffBytes = 512

// sniff finds the types of the bodies whose header does not tell, as the crawl did when it read them.
func (x *index) sniff(ctx context.Context) error {
	for _, e := range x.byURL {
		if !e.target.IsZero() || !isVague(mediaType(e.ctype)) {
			continue
		}
		err := x.capture(e).Body(func(body io.Reader) error {
			head, err := io.ReadAll(io.LimitReader(body, sniffBytes))
			e.ctype = x.once(mediaType(http.DetectContentType(head))) // its charset is a guess
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isVague reports whether a media type says nothing about the body (WHATWG MIME Sniffing, section 7), or is none. The
// fetcher has the same rule.
func isVague(media string) bool {
	switch media {
	case "unknown/unknown", "application/unknown", "*/*":
		return true
	}
	major, minor, _ := strings.Cut(media, "/")
	return major == "" || minor == "" || strings.ContainsAny(media, " \t,\"")
}

func (x *index) once(s string) string {
	if known, ok := x.ctypes[s]; ok {
		return known
	}
	x.ctypes[s] = s
	return s
}

func digestOf(label string) (d [32]byte, ok bool) {
	b, err := hex.DecodeString(strings.TrimPrefix(label, "sha256:"))
	if err != nil || len(b) != len(d) {
		return d, false
	}
	copy(d[:], b)
	return d, true
}

// entries returns all entries in the order of their URLs, named.
func (x *index) entries() []*entry {
	all := make([]*entry, 0, len(x.byURL))
	for _, e := range x.byURL {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int { return strings.Compare(a.url.String(), b.url.String()) })
	plain := make([]string, 0, len(all))
	for _, e := range all {
		if e.target.IsZero() {
			e.name = plainName(e.url, mediaType(e.ctype))
			plain = append(plain, e.name)
		}
	}
	n := newNames(plain)
	for _, e := range all {
		if e.target.IsZero() {
			e.name = n.of(e.url, e.name)
		}
	}
	return all
}

// maxRedirects ends a chain of redirects: crawls do not follow longer ones.
const maxRedirects = 20

// find returns what is shown for a URL, over redirects; nil: nothing is.
func (x *index) find(u weburl.URL, canonical func(weburl.URL) weburl.URL) *entry {
	for range maxRedirects {
		e := x.byURL[canonical(u).String()]
		if e == nil || e.target.IsZero() {
			return e
		}
		u = e.target
	}
	return nil
}

// body calls use with the whole body of an entry.
func (x *index) capture(e *entry) *warc.Capture {
	return &warc.Capture{File: x.files[e.at.file], Offset: e.at.offset, Length: e.at.length}
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// archiveFiles are the files of all directories. A node of a cluster that fetched nothing has none; when no directory
// has any, another was probably meant: an error.
func archiveFiles(dirs []string) (all []string, err error) {
	for _, dir := range dirs {
		files, err := warc.Files(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q hold no *.warc.gz files: name the directory of the archive", dirs)
	}
	return all, nil
}
