package parser

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// hints adds to f what the attributes of a block element say about its content.
func (p *pass) hints(t htmlscan.Tag, f flags) flags {
	inText := f&(inMain|inArticle|inContent) != 0 || t == htmlscan.Section
	var id, class []byte
	for i := range p.Attrs() {
		name, val := p.Attr(i)
		switch string(name) {
		case "class":
			class = first(class, val)
		case "id":
			id = first(id, val)
		case "role":
			f |= roleHint(val)
		case "hidden":
			f |= hidden
		case "itemprop":
			if string(val) == "articleBody" || string(val) == "description" {
				f |= inContent
			}
		case "style":
			if displayNone(val) {
				f |= hidden
			}
		}
	}
	c, note := wordHints(class)
	h, _ := wordHints(id)
	if inText || bytes.HasPrefix(class, []byte("sect")) {
		h &^= ownFlags // the id of a section is its title: "cookie-objects"
	}
	if t == htmlscan.Aside && note && p.flags&boilerplate == 0 {
		f &^= boilerplate // a footnote or an admonition is part of the text
	}
	if t != htmlscan.Div && t != htmlscan.Section {
		c &^= inContent // class="entry" of a table's cells
	}
	return f | c | h
}

func roleHint(role []byte) flags {
	switch string(bytes.TrimSpace(role)) {
	case "main":
		return inMain
	case "article":
		return inArticle
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog":
		return boilerplate
	}
	return 0
}

func displayNone(style []byte) bool {
	i := bytes.Index(style, []byte("display"))
	if i < 0 {
		return false
	}
	rest := bytes.TrimLeft(style[i+len("display"):], " :")
	return bytes.HasPrefix(rest, []byte("none"))
}

// wordHints reads the names in a class or id attribute, word by word: "site-footer mainNav" has the names site-footer
// and mainNav of two words each. note says that the element is an aside that belongs to the text.
func wordHints(val []byte) (f flags, note bool) {
	for i := 0; i < len(val); {
		var h flags
		var n bool
		h, n, i = nameHints(val, i)
		f, note = f|h, note || n
	}
	return f, note
}

// nameHints judges the name at i and returns where the next one starts. The last word decides whether it is the
// content: "post-content" is, "content-footer" is not. A word after "has", "with" or "no" tells of the page, not of the
// element.
func nameHints(val []byte, i int) (f flags, note bool, next int) {
	var buf [24]byte
	negated := false
	for i < len(val) && !space(val[i]) {
		var word []byte
		word, i = hintWord(val, i, &buf)
		h, n, negates := wordHint(word)
		if negated {
			h = 0
		}
		f = f&ownFlags | h
		note, negated = note || n, negates
	}
	for i < len(val) && space(val[i]) {
		i++
	}
	if f&ownFlags != 0 {
		f &= ownFlags
	}
	return f, note, i
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// hintWord returns the word at i in lower case, at most as long as buf, and where the next one starts.
func hintWord(val []byte, i int, buf *[24]byte) (word []byte, next int) {
	word = buf[:0]
	for ; i < len(val); i++ {
		c := val[i]
		lower := c | 0x20
		if lower < 'a' || lower > 'z' {
			break
		}
		if c != lower && len(word) > 0 && val[i-1]&0x20 != 0 {
			return word, i // camelCase
		}
		if len(word) < len(buf) {
			word = append(word, lower)
		}
	}
	for i < len(val) && !space(val[i]) && (val[i]|0x20 < 'a' || val[i]|0x20 > 'z') {
		i++
	}
	return word, i
}

// wordHint judges one word. The lists were made from the markup of documentation generators and common content
// management systems.
func wordHint(w []byte) (f flags, note, negates bool) {
	switch string(w) {
	case "has", "with", "no", "without", "hide", "show":
		return 0, false, true
	case "footnote", "footnotes", "admonition", "note", "topic", "callout", "tip", "warning", "caution", "important", "info",
		"example", "epigraph", "quote", "pullquote":
		return 0, true, false
	case "content", "main", "body", "maincontent", "article", "post", "entry", "story", "postbody", "apicontent", "bodycontent",
		"articlebody", "jobdescription":
		return inContent, false, false
	case "comments", "comment", "disqus", "commentlist", "respond", "livefyre", "kommentare", "commentaires", "comentarios":
		return comments, false, false
	case "sidebar", "sidenav", "menu", "submenu", "breadcrumb", "breadcrumbs", "crumbs", "pager", "pagination", "paging",
		"share", "sharing", "social", "related", "recommended", "recommendations", "cookie", "cookies",
		"consent", "gdpr", "popup", "modal", "newsletter", "subscribe", "signup", "promo", "ad", "ads", "advert", "adsense",
		"advertisement", "sponsor", "sponsored", "tagcloud", "login", "skip", "skiplink", "toolbar", "dropdown", "offcanvas",
		"drawer", "outbrain", "taboola", "noprint", "editsection", "catlinks", "printfooter", "masthead", "topbar", "copyright",
		"widget", "teaser", "teasers", "footer":
		return suspect, false, false
	}
	if bytes.HasPrefix(w, []byte("nav")) && !bytes.HasPrefix(w, []byte("nave")) && !bytes.HasPrefix(w, []byte("navy")) {
		return suspect, false, false
	}
	for _, end := range []string{"nav", "menu", "sidebar", "footer", "breadcrumbs"} {
		if bytes.HasSuffix(w, []byte(end)) {
			return suspect, false, false
		}
	}
	return 0, false, false
}
