package mdfiles_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/mdfiles"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(tb testing.TB, s string) weburl.URL {
	tb.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org":           "example.org/index.md",
		"https://example.org/":          "example.org/index.md",
		"https://example.org/a/b":       "example.org/a/b.md",
		"https://example.org/a/b/":      "example.org/a/b/index.md",
		"https://example.org/a/b.html":  "example.org/a/b.html.md",
		"http://example.org/":           "example.org~http/index.md",
		"http://example.org:8080/a":     "example.org~http~8080/a.md",
		"https://example.org/index":     "example.org/index~*.md",
		"https://example.org/A":         "example.org/A~*.md",
		"https://example.org/a.md/b":    "example.org/a.md~*/b.md",
		"https://example.org/?q=a/../b": "example.org/_q_a_.._b~*.md",
		"https://example.org/caf%C3%A9": "example.org/café~*.md",
		"https://example.org/%E0%A4%A6%E0%A4%BF%E0%A4%B2%E0%A5%8D%E0%A4%B2%E0%A5%80": "example.org/दिल्ली~*.md",
		"https://example.org/a%2F..%2Fb":                                             "example.org/a_.._b~*.md",
		"https://example.org/%00%0a":                                                 "example.org/__~*.md",
		"https://example.org//a":                                                     "example.org/~*/a.md",
		"https://example.org/con.txt":                                                "example.org/_con.txt~*.md",
		"https://example.org/NUL":                                                    "example.org/_NUL~*.md",
		"https://aux.example.org/":                                                   "_aux.example.org~*/index.md",
		"https://example.org/.git/config":                                            "example.org/git~*/config.md",
		"https://example.org/a.":                                                     "example.org/a.~*.md",
		"https://example.org/a~b":                                                    "example.org/a_b~*.md",
		"https://[::1]/x":                                                            "___1_~*/x.md",
		"https://xn--bcher-kva.example/seit":                                         "xn--bcher-kva.example/seit.md",
	} {
		got := mdfiles.Name(mustURL(t, in))
		before, after, marked := strings.Cut(want, "~*")
		if got != want && (!marked || !strings.HasPrefix(got, before+"~") || !strings.HasSuffix(got, after)) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// checkName reports a name that some file system cannot have, or that leads out of its directory.
func checkName(t *testing.T, u weburl.URL) string {
	t.Helper()
	name := mdfiles.Name(u)
	if !filepath.IsLocal(filepath.FromSlash(name)) || len(name) > 1_600 || !strings.HasSuffix(name, ".md") {
		t.Errorf("%s: %q", u, name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || len(part) > 200 || strings.ContainsAny(part, "\\:*?\"<>|\x00\n") ||
			strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			t.Errorf("%s: part %q of %q", u, part, name)
		}
	}
	return name
}

func TestNamesDiffer(t *testing.T) {
	long := strings.Repeat("a", 5_000)
	paths := []string{"", "a", "A", "a/", "A/", "a/b", "a/B", "a.md", "a.md/", "a.md/b", "a/index", "a/index.md",
		"a/index.html", "a/?", "a?", "a?x", "a?X", "a?x=1&y",
		"a?x=1/y", "a%2Fb", "a%2fb", "a~b", "con", "CON", "nul.txt", "a.", "a..", "...", ".a", "_a", "%20", "%20%20", "+",
		"a//b", "a///b", long, long + "b", strings.ToUpper(long),
		strings.Repeat("x/", 200), strings.Repeat("x/", 201), strings.Repeat("x/", 200) + "y", "caf%C3%A9", "cafe%CC%81",
		"caf%E9", "index", "index~", "a;b", "a:b", "a|b"}
	seen := map[string]string{}
	for _, host := range []string{"https://a.test/", "http://a.test/", "https://a.test:8443/", "http://a.test:8443/",
		"https://www.a.test/", "https://[::1]/"} {
		for _, p := range paths {
			u := mustURL(t, host+p)
			name := strings.ToLower(checkName(t, u)) // as file systems do that do not tell capital letters
			if other, ok := seen[name]; ok && other != u.String() {
				t.Errorf("%s and %s are both %s", u, other, name)
			}
			seen[name] = u.String()
		}
	}
	for name := range seen { // a file is no folder
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if _, ok := seen[dir]; ok {
				t.Errorf("%s is a file and a folder", dir)
			}
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("https://a.test/../..%2f%5c..\\x?y#z")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := weburl.Parse(raw)
		if err != nil || u.IsZero() {
			t.Skip()
		}
		checkName(t, u)
	})
}

func record(tb testing.TB, url, md string) *crawl.Record {
	u := mustURL(tb, url)
	return &crawl.Record{URL: u, FinalURL: u, Title: `A "T": \ # x`, Lang: "en", FetchedAt: time.Date(2026, 1, 2, 3, 4,
		5, 0, time.UTC),
		Extracted: crawl.Extracted{Markdown: md, Author: "Ann", Published: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}}
}

func TestFrontMatterIsYAML(t *testing.T) {
	r := record(t, "https://a.test/?a='b':", "# T")
	r.Author = "O'Hara\n---\nx: <y> \u2028 \x00"
	head, body, ok := strings.Cut(strings.TrimPrefix(string(mdfiles.Content(r)), "---\n"), "\n---\n")
	if !ok || body != "\n# T\n" {
		t.Fatalf("body %q", body)
	}
	var got map[string]any
	if err := yaml.Unmarshal([]byte(head), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"url": r.URL.String(), "title": r.Title, "lang": "en", "author": r.Author,
		"date": r.FetchedAt, "published": r.Published}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A file that was never fetched has no date.
func TestFrontMatterWithoutDates(t *testing.T) {
	r := record(t, "https://a.test/", "# T")
	r.FetchedAt, r.Published = time.Time{}, time.Time{}
	if got := string(mdfiles.Content(r)); strings.Contains(got, "date:") || strings.Contains(got, "0001") {
		t.Errorf("dates of nothing:\n%s", got)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, dir+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesFollowTheRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	var lines []byte
	for _, r := range []*crawl.Record{record(t, "https://a.test/a", "one"), record(t, "https://a.test/b", "two"),
		record(t, "https://a.test/copy", "")} {
		lines = jsonl.AppendRecord(lines, r)
	}
	put := func(in []byte) (int64, *mdfiles.Writer) {
		w, err := mdfiles.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		n, err := w.PutAll(t.Context(), bytes.NewReader(in), nil)
		if err != nil {
			t.Fatal(err)
		}
		return n, w
	}
	cut := lines[:len(lines)-5] // the last line is being written
	if n, w := put(cut); w.Written != 2 || n >= int64(len(cut)) {
		t.Fatalf("%d bytes, %d written", n, w.Written)
	}
	want := files(t, dir)
	if len(want) != 2 || !strings.HasSuffix(want["a.test/a.md"], "\n---\n\none\n") {
		t.Fatalf("files %q", want)
	}
	// A crash left half a file, one with other content, and none.
	for name, content := range map[string]string{"a.test/a.md.part": "--", "a.test/b.md": "old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "a.test/a.md")); err != nil {
		t.Fatal(err)
	}
	if n, w := put(lines); w.Written != 2 || n != int64(len(lines)) {
		t.Errorf("%d bytes, %d written", n, w.Written)
	}
	if got := files(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if _, w := put(jsonl.AppendRecord(nil, record(t, "https://a.test/b", ""))); w.Written != 0 || len(files(t, dir)) != 1 {
		t.Errorf("the file of a page that became a copy stays: %q", files(t, dir))
	}
	put(lines)
	if _, w := put(lines); w.Written != 0 || w.Same != 2 {
		t.Errorf("again: %d written, %d there", w.Written, w.Same)
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "a.test")); err != nil {
		t.Skip(err)
	}
	w, err := mdfiles.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Put(record(t, "https://a.test/a", "x")); err == nil || !strings.Contains(err.Error(), "https://a.test/a") {
		t.Errorf("error %v", err)
	}
	if got := files(t, elsewhere); len(got) != 0 {
		t.Errorf("written outside: %v", got)
	}
}
