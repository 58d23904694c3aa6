package marks

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxScripts is how many scripts of a page take part in its template.
const maxScripts = 32

// mounts are the ids that applications are commonly mounted at.
var mounts = map[string]bool{"root": true, "app": true, "__next": true, "__nuxt": true, "__layout": true,
	"___gatsby": true, "svelte": true, "q-app": true, "react-root": true, "app-root": true, "main-app": true,
	"mount": true, "application": true, "ember-app": true, "elm": true, "react-app": true, "vue-app": true,
	"page-root": true, "app-container": true}

// isMount reports whether an application may fill the element.
func isMount(s *htmlscan.Scanner) bool {
	for i := range s.Attrs() {
		switch n, v := s.Attr(i); string(n) {
		case "id":
			if len(v) < 20 && mounts[strings.ToLower(string(v))] {
				return true
			}
		case "data-reactroot", "ng-version", "ng-app", "data-ng-app", "ng-view", "ui-view", "v-cloak", "data-v-app",
			"data-sveltekit-preload-data", "x-data":
			return true
		}
	}
	return s.Tag() == htmlscan.Other && (hasEnd(s.Name(), "-root") || hasEnd(s.Name(), "-app"))
}

// hasEnd reports whether a name ends so, without regard to case.
func hasEnd(name []byte, end string) bool {
	return len(name) > len(end) && strings.EqualFold(string(name[len(name)-len(end):]), end)
}

// isHolder reports whether an element with an id or a hook for scripts is one that a script may fill.
func isHolder(s *htmlscan.Scanner) bool {
	switch s.Tag() {
	case htmlscan.Div, htmlscan.Ul, htmlscan.Ol, htmlscan.Nav, htmlscan.Main, htmlscan.Section, htmlscan.Tbody,
		htmlscan.Table, htmlscan.Article, htmlscan.Aside, htmlscan.Dl:
	default:
		return s.Tag() == htmlscan.Other && bytes.IndexByte(s.Name(), '-') > 0 // a custom element
	}
	for i := range s.Attrs() {
		if n, _ := s.Attr(i); string(n) == "id" || bytes.HasPrefix(n, dataPrefix) || bytes.HasPrefix(n, hxPrefix) {
			return true
		}
	}
	return false
}

var dataPrefix, hxPrefix = []byte("data-"), []byte("hx-")

// isFramework reports whether a script's URL names a framework, or has the form that bundlers give.
func isFramework(src string) bool {
	name := strings.ToLower(src)
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		name = name[:i]
	}
	for _, known := range []string{"react", "vue", "angular", "svelte", "preact", "ember", "backbone", "mithril", "nuxt",
		"_next/", "solid-js", "lit-element", "lit-html", "alpine", "htmx", "riot", "knockout", "/_app/", "webpack",
		"/assets/index-", "bundle", "runtime", "polyfills", "vendor", "chunk", "/static/js/main", "/build/", "/dist/",
		"app.js", "main.js"} {
		if strings.Contains(name, known) {
			return true
		}
	}
	return false
}

// isOwn reports whether a script lies on the site of its page: it names no host, or one of the site.
func isOwn(src, site string) bool {
	_, rest, absolute := strings.Cut(src, "//")
	if before, _, _ := strings.Cut(src, "//"); !absolute || before != "" && !strings.HasSuffix(before, ":") {
		return true
	}
	host := rest
	if i := strings.IndexAny(rest, "/:?#"); i >= 0 {
		host = rest[:i]
	}
	return site != "" && (host == site || strings.HasSuffix(host, "."+site))
}

// scriptName is a script's URL without what changes from one build or page to the next.
func scriptName(src string) string {
	if i := strings.IndexAny(src, "?#"); i >= 0 {
		src = src[:i]
	}
	if len(src) > 200 {
		src = src[:200]
	}
	return folded(src)
}

// maxSegments is how many segments of a path tell templates apart.
const maxSegments = 6

// Shape is the path of a URL with what changes from page to page replaced: numbers by N, hexadecimal digits by H, long
// names by S, the last segment by *. The names of the query's parameters follow, sorted.
func Shape(u weburl.URL) string {
	p := u.Path()
	parts := strings.Split(strings.Trim(p, "/"), "/")
	if p == "/" || p == "" {
		parts = nil
	}
	var b strings.Builder
	for i, part := range parts {
		if i == maxSegments {
			b.WriteString("/…")
			break
		}
		b.WriteByte('/')
		if i == len(parts)-1 {
			b.WriteByte('*')
			if dot := strings.LastIndexByte(part, '.'); dot > 0 && len(part)-dot <= 6 {
				b.WriteString(part[dot:])
			}
			break
		}
		b.WriteString(segment(part))
	}
	if len(parts) == 0 || strings.HasSuffix(p, "/") {
		b.WriteByte('/')
	}
	b.WriteString(queryNames(u))
	return b.String()
}

// maxKeys is how many names of a query's parameters a shape has.
const maxKeys = 8

func queryNames(u weburl.URL) string {
	_, query, ok := strings.Cut(u.RequestURI(), "?")
	if !ok || query == "" {
		return ""
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "?"
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, segment(name))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return "?" + strings.Join(names[:min(len(names), maxKeys)], "&")
}

// longName is the length from which a segment of a path is the name of one page rather than of a kind of pages.
const longName = 24

func segment(s string) string {
	if len(s) > longName || strings.Count(s, "-") > 2 {
		return "S"
	}
	return folded(s)
}

// folded replaces runs of digits by N, and runs of eight or more hexadecimal digits, of which one is a digit, by H.
func folded(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n, digits := 0, 0
		for i+n < len(s) && isHex(s[i+n]) {
			if isDigit(s[i+n]) {
				digits++
			}
			n++
		}
		switch {
		case n >= 8 && digits > 0:
			out = append(out, 'H')
			i += n
		case isDigit(s[i]):
			for i < len(s) && isDigit(s[i]) {
				i++
			}
			out = append(out, 'N')
		default:
			out = append(out, s[i])
			i++
		}
	}
	return string(out)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// templateOf names a template. 0 names none.
func templateOf(shape string, scripts []string) uint64 {
	scripts = slices.Clone(scripts)
	slices.Sort(scripts)
	scripts = slices.Compact(scripts)
	return max(xxh3.HashString(shape+"\n"+strings.Join(scripts, "\n")), 1)
}

// attr returns the value of an attribute.
func attr(s *htmlscan.Scanner, name string) string {
	for i := range s.Attrs() {
		if n, v := s.Attr(i); string(n) == name {
			return strings.TrimSpace(string(htmlscan.Value(v)))
		}
	}
	return ""
}

// startsWith reports whether the value of an attribute starts so.
func startsWith(s *htmlscan.Scanner, name, start string) bool {
	for i := range s.Attrs() {
		if n, v := s.Attr(i); string(n) == name {
			return strings.HasPrefix(string(v), start)
		}
	}
	return false
}
