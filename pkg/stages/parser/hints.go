package parser

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// hints adds to f what the attributes of a block element say about its content.
func (p *pass) hints(t htmlscan.Tag, f flags) flags {
	inText := f&(inMain|inArticle|inContent) != 0 || t == htmlscan.Section
	id, class, remark, f := p.attrHints(f)
	p.className = nameOf(class)
	c, h, note := p.nameHintsOf(id, class, remark)
	if inText && (t != htmlscan.Div || p.manual) || bytes.HasPrefix(class, []byte("sect")) ||
		traits[t].kind == heading || t == htmlscan.Dt {
		h &^= ownFlags // the id of a section, a heading or a term is its title: "cookie-objects"
	}
	if t == htmlscan.Aside && note && p.flags&boilerplate == 0 {
		f &^= boilerplate // a footnote or an admonition is part of the text
	}
	if t != htmlscan.Div && t != htmlscan.Section {
		c &^= inContent // class="entry" of a table's cells
	}
	if t == htmlscan.Td || t == htmlscan.Th {
		c &^= comments // a column of remarks, as on arXiv
	}
	return f | c | h
}

// attrHints adds to f what the attributes of an element say but for its names, which it returns. remark: its role is
// that of a note.
func (p *pass) attrHints(f flags) (id, class []byte, remark bool, _ flags) {
	within, opens := f&hidden, false
	for i := range p.Attrs() {
		name, val := p.Attr(i)
		switch string(name) {
		case "class":
			class = first(class, val)
		case "id":
			id = first(id, val)
		case "role":
			f |= roleHint(val)
			remark, opens = string(val) == "note", isPanel(val)
		case "hidden":
			f |= hiddenHint(val)
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
	if opens || p.answers() {
		f = f&^hidden | within
	}
	return id, class, remark, f
}

// nameHintsOf judges the names of an element: its classes, its id. A remark is text, whatever its names.
func (p *pass) nameHintsOf(id, class []byte, remark bool) (c, h flags, note bool) {
	c, note = wordHints(class)
	h, _ = wordHints(id)
	if remark {
		c &^= suspect | certain // class="hatnote navigation-not-searchable"
	}
	c = p.docBookHints(c, class)
	p.boardHints(id, class)
	if (c|h)&handbook != 0 {
		c, h, p.manual = c&^handbook, h&^handbook, true
	}
	if (c|h)&atEnd != 0 {
		c, h = p.ended(c), p.ended(h)
	}
	return c, h, note
}

// docBookHints takes back that a sidebar is none of the text: DocBook calls a box of the text so.
func (p *pass) docBookHints(f flags, class []byte) flags {
	switch string(class) {
	case "titlepage":
		p.docBook = true
	case "sidebar":
		if p.docBook {
			return 0
		}
	}
	return f
}

// boardHints looks for the markup of Hacker News and of Reddit, whose pages are links and what is said of them, and of
// phpBB, whose posts have headings that link to themselves as those of documentation do.
func (p *pass) boardHints(id, class []byte) {
	switch {
	case string(id) == "hnmain":
		p.thread = true
	case len(class) == 0 || class[0] != 's' && class[0] != 'p':
	case bytes.HasPrefix(class, []byte("sitetable")):
		p.thread = true
	case bytes.HasPrefix(class, []byte("postprofile")):
		p.manual, p.anchored = false, -maxNodes
	}
}

// ended makes names that end so suspect, but in documentation, which writes of authors and signatures.
func (p *pass) ended(f flags) flags {
	if f&atEnd != 0 && !p.manual {
		f |= suspect
	}
	return f &^ atEnd
}

// nameOf tells names apart by their length and their first letters; figures differ from one element to the next.
func nameOf(class []byte) (n uint16) {
	for i := 0; i < len(class) && i < 12 && !space(class[i]); i++ {
		if class[i] > '9' {
			n = n*31 + uint16(class[i])
		}
	}
	return n
}

func roleHint(role []byte) flags {
	switch string(bytes.TrimSpace(role)) {
	case "main":
		return inMain
	case "article":
		return inArticle
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar", "dialog",
		"alertdialog":
		return boilerplate
	}
	return 0
}

// isPanel says whether a role is that of what a tab or a question shows at a click: it is text of the page, and which
// of them is open when the page comes says nothing.
func isPanel(role []byte) bool {
	role = bytes.TrimSpace(role)
	return equalFold(role, "tabpanel") || equalFold(role, "region")
}

// displayNone says whether a style attribute hides its element. Of two declarations the last counts.
func displayNone(style []byte) (none bool) {
	const property = "display"
	for i := 0; i+len(property) < len(style); i++ {
		if style[i]|0x20 != 'd' || !equalFold(style[i:i+len(property)], property) ||
			i > 0 && (style[i-1] == '-' || style[i-1]|0x20 >= 'a' && style[i-1]|0x20 <= 'z') {
			continue
		}
		value, ok := bytes.CutPrefix(bytes.TrimLeft(style[i+len(property):], " \t\r\n"), []byte(":"))
		if !ok {
			continue
		}
		value = bytes.TrimLeft(value, " \t\r\n")
		none = len(value) >= len("none") && equalFold(value[:len("none")], "none")
	}
	return none
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
// content: "post-content" is, "content-footer" is not. A word after "no" tells of the page, not of the element, as
// all after "has" and "with" do (Docusaurus: "anchorWithStickyNavbar"), and a "hero-banner" is how the text begins.
func nameHints(val []byte, i int) (f flags, note bool, next int) {
	var buf [24]byte
	negated, told, advertised := false, false, false
	if val[i] == 'e' && bytes.HasPrefix(val[i:], elementor) {
		i += len(elementor)
	}
	for i < len(val) && !space(val[i]) {
		var word []byte
		word, i = hintWord(val, i, &buf)
		h, n, negates := wordHint(word)
		if negated || told {
			h = 0
		}
		told = told || tells(word)
		if f&atEnd != 0 && goesOn(word) {
			h |= atEnd
		}
		if advertised && ofGoods(word) {
			f, h = 0, 0
		}
		advertised = string(word) == "ad"
		f = f&(ownFlags|handbook) | h
		note, negated = note || n, negates
	}
	for i < len(val) && space(val[i]) {
		i++
	}
	if f&(ownFlags|atEnd) != 0 {
		f &= ownFlags | atEnd | handbook
	}
	return f, note, i
}

// ofGoods says whether this word behind "ad" makes it one that people place, which the page is about.
func ofGoods(w []byte) bool {
	switch string(w) {
	case "attributes", "description", "details", "features", "location", "params", "parameters", "price":
		return true
	}
	return false
}

// tells says whether all words after this one tell of the page.
func tells(w []byte) bool {
	switch string(w) {
	case "has", "with", "without":
		return true
	}
	return false
}

// elementor is what Elementor calls each part of a text.
var elementor = []byte("elementor-widget")

// goesOn says whether a name still tells of a person after "author" or "user" if this word follows.
func goesOn(w []byte) bool {
	switch string(w) {
	case "info", "box", "bio", "details", "name", "card", "meta", "data", "panel", "block", "profile", "image", "title":
		return true
	}
	return false
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
// management systems, and from what other programs for this purpose look for (Readability, Trafilatura).
func wordHint(w []byte) (f flags, note, negates bool) {
	switch string(w) {
	case "has", "with", "no", "without", "hide", "show", "hero", "jumbotron":
		return 0, false, true
	case "footnote", "footnotes", "admonition", "note", "topic", "callout", "tip", "warning", "caution", "important",
		"info", "example", "epigraph", "quote", "pullquote":
		return 0, true, false
	case "content", "main", "body", "maincontent", "article", "post", "entry", "story", "postbody", "bodycontent",
		"articlebody", "jobdescription":
		return inContent, false, false
	}
	if string(w) == "apicontent" {
		return inContent | handbook, false, false
	}
	return boilerplateHint(w), false, false
}

// boilerplateHint judges words that tell of what is not the text.
func boilerplateHint(w []byte) flags {
	switch string(w) {
	case "comment", "comments", "disqus", "commentlist", "respond", "livefyre", "kommentare", "kommentar",
		"commentaires", "comentarios", "reacties", "talkback", "talkbacks":
		return comments
	case "teaser", "teasers":
		return teaser
	case "toctree", "docutils", "refentry", "refsect", "docblock", "memberdoc", "titlepage", "documentwrapper", "javadoc",
		"rustdoc", "mdbook":
		return handbook
	case "menu":
		return suspect | certain | dishes
	case "sidebar", "sidenav", "submenu", "breadcrumb", "breadcrumbs", "crumbs", "pager", "pagination", "paging",
		"footer", "copyright", "masthead", "topbar", "crumbtrail":
		return suspect | certain
	case "cookie", "cookies", "consent", "gdpr", "onetrust", "usercentrics", "cmp", "cookiebot", "cookieconsent",
		"cookiebanner", "cookiebar":
		return suspect | certain | notice
	case "paywall", "regwall":
		return suspect | paid
	case "share", "sharing", "shares", "sharebar", "sharedaddy", "addthis", "addtoany", "social", "socials", "sns",
		"related", "relatedposts",
		"recommended", "recommendations", "recommendation", "recirculation", "popup", "modal", "overlay",
		"lightbox", "newsletter", "newsletters", "subscribe", "subscription", "signup", "optin",
		"upsell", "upsells", "crosssell", "crosssells", "facets", "cta", "promo", "promos",
		"promotion", "ad", "ads", "adslot", "adunit", "adbox", "advert", "adverts", "advertising", "adsense", "advertisement",
		"dfp", "skyscraper", "leaderboard", "billboard", "sponsor", "sponsored", "tagcloud", "login", "skip", "skiplink",
		"toolbar", "dropdown", "offcanvas", "drawer", "outbrain", "taboola", "zergnet", "criteo",
		"noprint", "editsection", "catlinks", "printfooter", "navbox", "widget", "byline", "dateline", "timestamp",
		"postmeta", "postprofile", "userinfo", "userprofile", "authorbox", "mostread", "mostpopular", "trending", "blogroll",
		"shoutbox", "werbung", "anzeige", "publicidad", "publicite", "reklama", "teilen", "verwandte", "relacionadas",
		"relacionados", "viral":
		return suspect
	case "author", "authors", "bio", "avatar", "tags", "taglist", "user", "poster", "profile", "signature", "rail", "side",
		"aside", "popular", "rating", "vote", "votes", "voting", "feedback", "banner", "banners", "supplemental",
		"complementary", "buttons", "foot", "ftr", "hdr", "leftcol", "rightcol", "leftcolumn", "rightcolumn":
		return atEnd
	}
	return partHint(w)
}

// partHint judges words by how they begin or end: "navigation", "mainmenu".
func partHint(w []byte) flags {
	if len(w) < 3 {
		return 0
	}
	if w[0] == 'n' && w[1] == 'a' && w[2] == 'v' && (len(w) == 3 || w[3] != 'e' && w[3] != 'y') {
		return suspect | certain
	}
	var end string
	switch w[len(w)-1] {
	case 'v':
		end = "nav"
	case 'u':
		end = "menu"
	case 'r':
		end = "sidebar"
		if w[len(w)-3] == 't' {
			end = "footer"
		}
	case 's':
		end = "breadcrumbs"
	default:
		return 0
	}
	if bytes.HasSuffix(w, []byte(end)) {
		return suspect | certain
	}
	return 0
}
