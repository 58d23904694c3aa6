// Package wacztest checks WACZ files against the specification, version 1.1.1, with a reader of its own: nothing of the
// package that writes them.
package wacztest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Contents are what a package holds.
type Contents struct {
	Pages    []string // URLs
	Captures []string // URLs
	MainPage string
}

type checker struct {
	t     testing.TB
	files map[string]*zip.File
	got   Contents
}

// Check reports every fault of a package, and returns what it holds.
func Check(t testing.TB, file string) Contents {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	c := &checker{t: t, files: map[string]*zip.File{}}
	for _, f := range z.File {
		if c.files[f.Name] != nil {
			t.Errorf("%s holds %s twice", file, f.Name)
		}
		c.files[f.Name] = f
		packed := strings.HasPrefix(f.Name, "archive/") || strings.HasSuffix(f.Name, ".gz")
		if packed && f.Method != zip.Store {
			t.Errorf("%s is compressed once more", f.Name)
		}
	}
	c.manifest()
	c.index()
	c.pages()
	return c.got
}

// content returns a file of the package.
func (c *checker) content(name string) []byte {
	c.t.Helper()
	f := c.files[name]
	if f == nil {
		c.t.Fatalf("there is no %s", name)
	}
	r, err := f.Open()
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r) // its checksum is compared
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return b
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// manifest checks datapackage.json and its digest: every file is listed once, with its size and digest.
func (c *checker) manifest() {
	const name = "datapackage.json"
	content := c.content(name)
	var own struct{ Path, Hash string }
	if err := json.Unmarshal(c.content("datapackage-digest.json"), &own); err != nil || own.Path != name ||
		own.Hash != digest(content) {
		c.t.Errorf("datapackage-digest.json says %+v, and the digest is %s (%v)", own, digest(content), err)
	}
	var d struct {
		Profile, Created, Software, MainPageURL string
		Version                                 string `json:"wacz_version"`
		Resources                               []struct {
			Name, Path, Hash string
			Bytes            int64
		}
	}
	if err := json.Unmarshal(content, &d); err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	if _, err := time.Parse(time.RFC3339, d.Created); err != nil || d.Profile != "data-package" || d.Version != "1.1.1" ||
		d.Software == "" {
		c.t.Errorf("%s: %+v", name, d)
	}
	c.got.MainPage = d.MainPageURL
	listed := map[string]bool{name: true, "datapackage-digest.json": true}
	for _, r := range d.Resources {
		if b := c.content(r.Path); r.Hash != digest(b) || r.Bytes != int64(len(b)) || listed[r.Path] ||
			r.Name != strings.ToLower(r.Name) {
			c.t.Errorf("%+v: %s has %d bytes and the digest %s", r, r.Path, len(b), digest(b))
		}
		listed[r.Path] = true
	}
	for f := range c.files {
		if !listed[f] {
			c.t.Errorf("%s is not listed in %s", f, name)
		}
	}
}

// index checks that every line of the index leads to the capture that it names, and that the lines are in order.
func (c *checker) index() {
	data := c.content("indexes/index.cdx.gz")
	lines := strings.Split(strings.TrimSuffix(string(c.content("indexes/index.idx")), "\n"), "\n")
	if !strings.HasPrefix(lines[0], "!meta 0 {") || !strings.Contains(lines[0], `"cdxj-gzip-1.0"`) {
		c.t.Errorf("the head of the table is %s", lines[0])
	}
	var all []string
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, " {")
		var at struct{ Offset, Length int }
		if err := json.Unmarshal([]byte("{"+value), &at); err != nil || at.Offset+at.Length > len(data) {
			c.t.Fatalf("table of the index: %s: %v", line, err)
		}
		block := strings.Split(strings.TrimSuffix(string(unzipped(c.t, data[at.Offset:at.Offset+at.Length])), "\n"), "\n")
		if !strings.HasPrefix(block[0], key+" ") {
			c.t.Errorf("the block of %s begins with %s", key, block[0])
		}
		all = append(all, block...)
	}
	if !slices.IsSorted(all) {
		c.t.Error("the index is not sorted")
	}
	archives := map[string][]byte{}
	for _, line := range all {
		c.capture(line, archives)
	}
}

func unzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// capture checks one line of the index.
func (c *checker) capture(line string, archives map[string][]byte) {
	parts := strings.SplitN(line, " ", 3)
	var x struct{ URL, Mime, Status, Digest, Length, Offset, Filename string }
	if len(parts) != 3 || json.Unmarshal([]byte(parts[2]), &x) != nil || len(parts[1]) != 14 {
		c.t.Errorf("no CDXJ: %s", line)
		return
	}
	offset, err1 := strconv.Atoi(x.Offset)
	length, err2 := strconv.Atoi(x.Length)
	name := "archive/" + x.Filename
	if archives[name] == nil {
		archives[name] = c.content(name)
	}
	if err1 != nil || err2 != nil || offset+length > len(archives[name]) {
		c.t.Errorf("nothing is there: %s", line)
		return
	}
	record := unzipped(c.t, archives[name][offset:offset+length])
	head, _, _ := bytes.Cut(record, []byte("\r\n\r\n"))
	want := []string{"WARC/1.1", "\r\nWARC-Target-URI: " + x.URL + "\r\n"}
	if x.Digest != "" {
		want = append(want, "\r\nWARC-Payload-Digest: "+x.Digest+"\r\n")
	}
	for _, w := range want {
		if !strings.Contains(string(head)+"\r\n", w) {
			c.t.Errorf("%s leads to a record without %q:\n%s", line, w, head)
		}
	}
	c.got.Captures = append(c.got.Captures, x.URL)
}

// pages checks the list of pages: each is in the index.
func (c *checker) pages() {
	in := bufio.NewScanner(bytes.NewReader(c.content("pages/pages.jsonl")))
	in.Buffer(nil, 1<<20)
	captured := map[string]bool{}
	for _, u := range c.got.Captures {
		captured[u] = true
	}
	for n := 0; in.Scan(); n++ {
		var p struct{ Format, ID, URL, TS string }
		err := json.Unmarshal(in.Bytes(), &p)
		if n == 0 {
			if err != nil || p.Format != "json-pages-1.0" || p.ID == "" {
				c.t.Errorf("the head of pages.jsonl is %s", in.Text())
			}
			continue
		}
		if _, bad := time.Parse(time.RFC3339, p.TS); err != nil || bad != nil || !captured[p.URL] {
			c.t.Errorf("a page that is not in the archive, or has no time: %s", in.Text())
		}
		c.got.Pages = append(c.got.Pages, p.URL)
	}
	if c.got.MainPage != "" && !slices.Contains(c.got.Pages, c.got.MainPage) {
		c.t.Errorf("the main page %s is none of the pages", c.got.MainPage)
	}
}
