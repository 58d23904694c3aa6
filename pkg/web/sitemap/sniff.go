package sitemap

import (
	"bytes"
	"io"
	"strings"
)

// SniffFeed reports whether a document that starts with head is an XML sitemap, a sitemap index or a feed, by its
// root element. 1 KiB of head is enough for nearly all. It does not look into gzip, and text sitemaps are not XML.
func SniffFeed(head []byte) bool {
	if len(head) > sniffLen {
		head = head[:sniffLen]
	}
	text, _ := io.ReadAll(decode(bytes.NewReader(head), head)) // a cut last character is no matter
	kind, _ := rootKind(text)
	return kind != Unknown
}

// isMarkup reports whether a document is XML or the like rather than text.
func isMarkup(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<"))
}

// junkBefore is the length of what stands before the XML declaration of a sitemap or feed, such as a warning of PHP; 0
// where there is nothing but white space, or no sitemap or feed behind it.
func junkBefore(head []byte) int {
	at := bytes.Index(head, []byte("<?xml"))
	if at < 0 || len(bytes.TrimSpace(head[:at])) == 0 {
		return 0
	}
	if own, _ := rootKind(head); own != Unknown {
		return 0
	}
	if kind, _ := rootKind(head[at:]); kind == Unknown {
		return 0
	}
	return at
}

// rootKind tells the kind by the root element; sure is false where head ends before it.
func rootKind(head []byte) (kind Kind, sure bool) {
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		switch {
		case bytes.HasPrefix(head, []byte("<?")):
			head = after(head, "?>")
		case bytes.HasPrefix(head, []byte("<!--")):
			head = after(head, "-->")
		case bytes.HasPrefix(head, []byte("<!")):
			head = afterDoctype(head)
		case len(head) == 0:
			return Unknown, false
		default:
			return tagKind(head)
		}
	}
}

// after is what follows the first end in b, nothing if there is none.
func after(b []byte, end string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(end))
	return rest
}

// afterDoctype passes over a document type declaration with its internal subset in brackets.
func afterDoctype(b []byte) []byte {
	end := bytes.IndexByte(b, '>')
	if open := bytes.IndexByte(b, '['); open >= 0 && open < end {
		b = after(b, "]")
		end = bytes.IndexByte(b, '>')
	}
	if end < 0 {
		return nil
	}
	return b[end+1:]
}

// tagKind is the kind of the root element that b starts with.
func tagKind(b []byte) (kind Kind, sure bool) {
	if b[0] != '<' {
		return Unknown, true
	}
	end := bytes.IndexAny(b, " \t\r\n/>")
	if end < 0 {
		return Unknown, false
	}
	name := string(b[1:end])
	return kindOf(name[strings.LastIndexByte(name, ':')+1:]), true
}

// kindOf is the kind of a document whose root element has this local name.
func kindOf(root string) Kind {
	switch strings.ToLower(root) {
	case "urlset":
		return URLSet
	case "sitemapindex":
		return Index
	case "rss":
		return RSS
	case "feed":
		return Atom
	case "rdf":
		return RDF
	}
	return Unknown
}

// isHTTP reports whether s starts like an absolute URL that could be fetched.
func isHTTP[S string | []byte](s S) bool {
	if len(s) < len("http://x") {
		return false
	}
	head := strings.ToLower(string(s[:len("http://x")]))
	return strings.HasPrefix(head, "http://") || strings.HasPrefix(head, "https://")
}
