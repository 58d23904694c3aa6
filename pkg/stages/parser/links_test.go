package parser

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// treeLinks are the links of the tree that golang.org/x/net/html makes of a document: what a browser would follow.
func treeLinks(t testing.TB, doc []byte, page weburl.URL) (links []string) {
	t.Helper()
	root, err := html.ParseWithOptions(bytes.NewReader(doc), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	base, refs := "", []string{}
	for n := range root.Descendants() {
		if ref, ok := treeLink(n); ok {
			refs = append(refs, ref)
		}
		if href, ok := attrOf(n, "href"); ok && n.Data == "base" && base == "" {
			base = href
		}
	}
	if u, err := page.Resolve(base); err == nil {
		page = u
	}
	for _, ref := range refs {
		if u, err := page.Resolve(ref); err == nil {
			links = append(links, u.String())
		}
	}
	return links
}

func treeLink(n *html.Node) (ref string, ok bool) {
	if n.Type != html.ElementNode {
		return "", false
	}
	switch n.Data {
	case "a", "area":
		return attrOf(n, "href")
	case "link":
		rel, _ := attrOf(n, "rel")
		ref, ok = attrOf(n, "href")
		media, _ := attrOf(n, "type")
		return ref, ok && !isResource(rel) && !isData(media, ref)
	case "frame", "iframe":
		return attrOf(n, "src")
	case "meta":
		content, _ := attrOf(n, "content")
		if equiv, _ := attrOf(n, "http-equiv"); strings.EqualFold(equiv, "refresh") {
			url := refreshURL([]byte(content))
			return string(url), url != nil
		}
	}
	return "", false
}

func attrOf(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

func ourLinks(r *Result) (links []string) {
	for _, l := range r.Links {
		if !l.URL.IsZero() {
			links = append(links, l.URL.String())
		}
	}
	return links
}

func compareLinks(t *testing.T, name string, doc []byte) {
	t.Helper()
	page := mustURL(t, "http://host.example/dir/page.html")
	got, want := ourLinks(HTML(doc, "text/html; charset=utf-8", page, Options{})), treeLinks(t, doc, page)
	slices.Sort(got) // a tree moves what stands wrongly in a table
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d links, the tree has %d: %s", name, len(got), len(want), firstDifference(got, want))
	}
}

func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("at %d: %q, %q", i, a[i:min(i+2, len(a))], b[i:min(i+2, len(b))])
		}
	}
	return "none"
}

// soup makes a document of random elements, well nested or not.
func soup(rng *rand.Rand, n int) []byte {
	parts := []string{"<div class='x'>", "</div>", "<p>", "</p>", "<table><tr><td>", "</table>", "<ul><li>", "</ul>",
		"text &amp; more ", "<b>", "</b>", "<!-- <a href=comment> -->", "<script>'<a href=script>'</script>",
		"<style><a href=style></style>", "<noscript><a href=noscript>n</a></noscript>",
		"<textarea><a href=textarea></textarea>", "<title><a href=t></title>", "<h2>", "</h2>",
		"<iframe src=frame><a href=inframe></iframe>", "<svg><path d='M0'/></svg>", "<br>", "<span>", "</span>",
		"<link rel=next href=next>", "<link rel=stylesheet href=style.css>", "<area href=area>", "< not a tag", "</>",
		"<meta http-equiv=refresh content='5; url=refreshed'>", "<a name=x>", "</a>", "<img src=i>", "<form>", "</form>",
		"<dl><dt>", "<dd>", "</dl>", "<blockquote>", "<pre>", "</pre>", "<td>", "<tr>", "<!doctype x>", "<?x <a href=pi> ?>"}
	var b bytes.Buffer
	b.WriteString("<html><head><base href=/base/></head><body>")
	for i := range n {
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&b, "<a href='l%d?a=1&amp;b=%d#f' rel=nofollow>link %d</a>", i, i, i)
			continue
		}
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.Bytes()
}

func TestLinksEqualThoseOfTheTree(t *testing.T) {
	for seed := range uint64(300) {
		compareLinks(t, fmt.Sprint("seed ", seed), soup(rand.New(rand.NewPCG(seed, 1)), 20+int(seed)))
	}
}

// documentation are pages as they are found in the wild, where Debian's documentation packages are installed.
var documentation = []string{"/usr/share/doc/python3.11/html/library/*.html", "/usr/share/doc/python3.11/html/*.html",
	"/usr/share/doc/postgresql-doc-15/html/*.html", "/usr/share/doc/libboost1.74-doc/doc/html/*/*.html",
	"/usr/share/doc/nodejs/api/*.html"}

func documentationPages(t testing.TB) (files []string) {
	for _, pattern := range documentation {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(found); i += 1 + len(found)/60 {
			files = append(files, found[i])
		}
	}
	return files
}

func TestLinksOfDocumentationEqualThoseOfTheTree(t *testing.T) {
	files := documentationPages(t)
	if len(files) == 0 {
		t.Skip("no documentation installed: TestLinksEqualThoseOfTheTree checks the same on made documents")
	}
	for i, name := range files {
		if testing.Short() && i%5 > 0 {
			continue
		}
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc) < 1<<20 {
			compareLinks(t, name, doc)
		}
	}
}
