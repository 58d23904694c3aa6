package parser

import (
	"bytes"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/refs"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
)

// metaAttrs are the raw attributes of a meta element; nil where it has none.
type metaAttrs struct{ charset, httpEquiv, name, property, content []byte }

func (m *metaAttrs) read(s *htmlscan.Scanner) {
	for i := range s.Attrs() {
		switch name, val := s.Attr(i); string(name) {
		case "charset":
			m.charset = first(m.charset, val)
		case "http-equiv":
			m.httpEquiv = first(m.httpEquiv, val)
		case "name":
			m.name = first(m.name, val)
		case "property":
			m.property = first(m.property, val)
		case "content":
			m.content = first(m.content, val)
		}
	}
}

// onHead handles the elements that mostly are in the head, and those that are links without content.
func (p *pass) onHead(t htmlscan.Tag) {
	if p.open[htmlscan.Template] > 0 && t != htmlscan.Area && t != htmlscan.Frame {
		return // what a template holds says nothing of the document (HTML Standard, 4.12.3)
	}
	switch t {
	case htmlscan.Base:
		if p.base == nil && p.flags&inForeign == 0 {
			p.base = p.attr("href")
		}
	case htmlscan.Link:
		p.onLinkElement()
	case htmlscan.Area:
		p.addLink(tagArea, p.attr("href"), p.attr("rel"))
	case htmlscan.Frame:
		p.addLink(tagFrame, p.attr("src"), nil)
	case htmlscan.HTML:
		p.setLang(first(p.attr("lang"), p.attr("xml:lang")))
	case htmlscan.Meta:
		p.onMeta()
	}
}

func (p *pass) onMeta() {
	var m metaAttrs
	m.read(&p.Scanner)
	switch {
	case m.content == nil:
	case equalFold(m.httpEquiv, "refresh"):
		ref := refreshURL(htmlscan.Value(m.content)) // quotes may be written as references
		p.addLink(tagMeta, bytes.ReplaceAll(ref, []byte("&"), []byte("&amp;")), nil)
	case equalFold(m.httpEquiv, "content-language"), equalFold(m.name, "language"):
		p.setLang(m.content)
	case equalFold(m.property, "og:type"):
		p.article = p.article || equalFold(m.content, "article")
	case equalFold(m.name, "generator"):
		p.manual = p.manual || writesManuals(m.content)
	case equalFold(m.name, "robots"), strings.EqualFold(string(bytes.TrimSpace(m.name)), p.opt.agent()):
		p.out.robots(string(htmlscan.Value(m.content)))
	default:
		p.onMetaTitle(&m)
	}
}

// writesManuals says whether the program that made the page makes documentation.
func writesManuals(generator []byte) bool {
	for _, name := range [...]string{"docutils", "sphinx", "docbook", "rustdoc", "javadoc", "doxygen", "mkdocs",
		"docusaurus", "mdbook", "asciidoctor", "gitbook", "antora", "typedoc", "jsdoc", "exdoc", "gtk-doc", "texi2any",
		"makeinfo", "vitepress", "pdoc"} {
		if len(generator) >= len(name) && equalFold(generator[:len(name)], name) {
			return true
		}
	}
	return false
}

// refreshURL is the URL of a refresh such as "5; url='x'" (HTML Standard, shared declarative refresh steps); nil for a
// page that refreshes itself.
func refreshURL(content []byte) []byte {
	rest := bytes.TrimLeft(content, " \t\n\f\r")
	digits := len(rest)
	rest = bytes.TrimLeft(rest, "0123456789.")
	if len(rest) == digits || len(rest) == 0 {
		return nil
	}
	if !space(rest[0]) && rest[0] != ';' && rest[0] != ',' {
		return nil
	}
	rest = bytes.TrimLeft(rest, " \t\n\f\r")
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		rest = bytes.TrimLeft(rest[1:], " \t\n\f\r")
	}
	if len(rest) == 0 {
		return nil
	}
	if len(rest) > 3 && equalFold(rest[:3], "url") {
		if after := bytes.TrimLeft(rest[3:], " \t\n\f\r"); len(after) > 0 && after[0] == '=' {
			rest = bytes.TrimLeft(after[1:], " \t\n\f\r")
		}
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		quoted, _, _ := bytes.Cut(rest[1:], rest[:1])
		return quoted
	}
	return rest
}

// robots applies the directives of a robots meta element.
func (r *Result) robots(text string) { r.say(func(d *robots.Directives) { d.Add(text) }) }

func (r *Result) say(more func(*robots.Directives)) {
	d := robots.Directives{NoIndex: r.NoIndex, NoFollow: r.NoFollow}
	more(&d)
	r.NoIndex, r.NoFollow = d.NoIndex, d.NoFollow
}

// setLang takes the first language of the page that reads like a BCP 47 tag.
func (p *pass) setLang(raw []byte) {
	if p.out.Lang == "" {
		p.out.Lang = languageTag(string(htmlscan.Value(raw)))
	}
}

// maxLanguageTag is the length that RFC 5646 (4.4.1) asks implementations to handle.
const maxLanguageTag = 35

func languageTag(s string) string {
	s, _, _ = strings.Cut(s, ",")
	s = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "_", "-"))
	if len(s) < 2 || len(s) > maxLanguageTag {
		return ""
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	return s
}

// onMedia notes what the page shows.
func (p *pass) onMedia(t htmlscan.Tag) {
	switch {
	case t == htmlscan.Img:
		p.onPicture()
	case t == htmlscan.Object && embedsPage(p.attr("type"), p.attr("data")):
		p.addLink(tagIframe, p.attr("data"), nil)
		return
	case t == htmlscan.Embed && embedsPage(p.attr("type"), p.attr("src")):
		p.addLink(tagIframe, p.attr("src"), nil)
		return
	}
	for i := range p.Attrs() {
		switch name, val := p.Attr(i); string(name) {
		case "src", "poster":
			p.addAsset(val)
		case "srcset":
			p.addSrcset(htmlscan.Value(val))
		case "alt":
			p.veiledText(val)
		case "data-src", "data-original", "data-lazy-src":
			if refs.Later(t, val) {
				p.addAsset(val)
			}
		case "data-srcset", "data-lazy-srcset":
			if refs.Later(t, val) {
				p.addSrcset(htmlscan.Value(val))
			}
		case "data":
			if t == htmlscan.Object {
				p.addAsset(val)
			}
		}
	}
}

// embedsPage reports whether what an object or embed element shows is a page or a document, as a frame would: by its
// type, and without one by the end of its path.
func embedsPage(media, url []byte) bool {
	switch mediaType(string(media)) {
	case "text/html", "application/xhtml+xml", "application/pdf":
		return true
	case "":
		path, _, _ := bytes.Cut(bytes.TrimSpace(url), []byte("?"))
		path, _, _ = bytes.Cut(path, []byte("#"))
		path = bytes.ToLower(path)
		for _, end := range []string{".html", ".htm", ".xhtml", ".pdf"} {
			if bytes.HasSuffix(path, []byte(end)) {
				return true
			}
		}
	}
	return false
}

func (p *pass) addAsset(raw []byte) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || hasScheme(raw, "data:"):
	case p.opt.MaxAssets > 0 && len(p.assets) >= p.opt.MaxAssets, p.opt.MaxURL > 0 && len(raw) > p.opt.MaxURL:
		p.out.cut(CutAssets)
	default:
		p.assets = append(p.assets, raw)
	}
}

// addSrcset notes the URLs of a srcset: candidates parted by commas, a URL and a descriptor each; a comma within a URL
// is part of it, at its end it is not (HTML Standard, 4.8.4.2.2).
func (p *pass) addSrcset(val []byte) {
	for {
		val = bytes.TrimLeft(val, " \t\n\f\r,")
		end := bytes.IndexAny(val, " \t\n\f\r")
		if end < 0 {
			p.addAsset(bytes.TrimRight(val, ","))
			return
		}
		url := val[:end]
		p.addAsset(bytes.TrimRight(url, ","))
		val = val[end:]
		if url[len(url)-1] == ',' {
			continue
		}
		comma := bytes.IndexByte(val, ',')
		if comma < 0 {
			return
		}
		val = val[comma:]
	}
}

// equalFold reports whether raw is the lower-case ASCII word, whatever its case and the spaces around it.
func equalFold(raw []byte, word string) bool {
	return len(raw) >= len(word) && bytes.EqualFold(bytes.TrimSpace(raw), []byte(word))
}

// hasScheme reports whether raw starts with the lower-case scheme, colon included.
func hasScheme(raw []byte, scheme string) bool {
	raw = bytes.TrimLeft(raw, "\x00\t\n\f\r ")
	return len(raw) >= len(scheme) && bytes.EqualFold(raw[:len(scheme)], []byte(scheme))
}

// hasWord reports whether one of raw's words is the lower-case word.
func hasWord(raw []byte, word string) bool {
	for f := range bytes.FieldsSeq(raw) {
		if bytes.EqualFold(f, []byte(word)) {
			return true
		}
	}
	return false
}
