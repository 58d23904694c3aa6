package structured

import (
	"maps"
	"strings"

	"golang.org/x/net/html"
)

// names is what RDFa names mean in an element (RDFa Lite 1.1, 2.1 and 2.5).
type names struct {
	vocab    string
	prefixes map[string]string // those that the document declares; never changed once made
}

// usualPrefixes are of RDFa's initial context, which holds without a declaration: those that pages use.
var usualPrefixes = map[string]string{
	"schema": "http://schema.org/", "foaf": "http://xmlns.com/foaf/0.1/", "dc": "http://purl.org/dc/terms/",
	"dcterms": "http://purl.org/dc/terms/", "sioc": "http://rdfs.org/sioc/ns#",
	"skos": "http://www.w3.org/2004/02/skos/core#", "gr": "http://purl.org/goodrelations/v1#",
	"v": "http://rdf.data-vocabulary.org/#",
}

// maxPrefixes bounds the prefixes that an element declares.
const maxPrefixes = 50

// within is what names mean in an element of the scope.
func (s names) within(n *html.Node) names {
	if v, ok := lookup(n, "vocab"); ok {
		s.vocab = v
	}
	declared := strings.Fields(attr(n, "prefix"))
	if len(declared) < 2 || len(declared) > 2*maxPrefixes || len(s.prefixes) > maxPrefixes {
		return s
	}
	all := maps.Clone(s.prefixes)
	if all == nil {
		all = map[string]string{}
	}
	for i := 0; i+1 < len(declared); i += 2 {
		if name, ok := strings.CutSuffix(strings.ToLower(declared[i]), ":"); ok {
			all[name] = declared[i+1]
		}
	}
	s.prefixes = all
	return s
}

// split takes apart "prefix:name"; ok is false where the prefix is not known, as in a whole URL.
func (s names) split(name string) (base, rest string, ok bool) {
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || strings.HasPrefix(rest, "//") {
		return "", "", false
	}
	prefix = strings.ToLower(prefix)
	if base, ok = s.prefixes[prefix]; !ok {
		base, ok = usualPrefixes[prefix]
	}
	return base, rest, ok
}

// typ is the whole name of a type.
func (s names) typ(t string) string {
	if base, rest, ok := s.split(t); ok {
		return base + rest
	}
	if s.vocab != "" && !strings.Contains(t, ":") {
		return s.vocab + t
	}
	return t
}

// property is a property's name as it is stored: that of schema.org without its prefix, as by vocab, since facts are
// looked up by it; others as they stand.
func (s names) property(p string) string {
	if base, rest, ok := s.split(p); ok && (base == s.vocab || strings.HasSuffix(base, "://schema.org/")) && rest != "" {
		return rest
	}
	return p
}
