package fakeweb

import "strconv"

// edition says which text of a page is written.
type edition struct {
	version uint64 // how often the page has changed
	edit    uint64 // not 0: replace about one word in a hundred, chosen by this number
}

// headOpen and the other constants are the parts all pages share, as one content management system would make them.
const (
	headOpen = "<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"generator\" content=\"Fakeweb\">\n"
	headClose = "<style>body{margin:0;font:16px/1.5 sans-serif}article{max-width:42em;margin:auto}" +
		"nav a{padding:.2em}.teaser>a{color:#036}/* a > b { } </styl */</style>\n" +
		"<script>\n(function(){var a=document.createElement(\"a\");a.href=\"/not-a-link?x=1&y=2\";" +
		"if(1<2&&3>2){window.dataLayer=window.dataLayer||[];}})();\n</script>\n" +
		"<!-- <a href=\"/commented-out.html\">not a link</a> -->\n</head>\n"
	footer = "<p>Write to <a href=\"mailto:editor@example.test\">the editors</a> or call <a " +
		"href=\"tel:+4930123456\">us</a>. <a href=\"javascript:void(0)\" onclick=\"window.print()\">Print</a> " +
		"&copy;&nbsp;2024</p>\n"
)

// writer writes one page.
type writer struct {
	*Web
	dst   []byte
	page  pageRef
	style refStyle
	pool  *pool
	s     stream // the text
	links stream
	edits stream
	edit  bool
	left  int  // bytes of sentences still to be written
	must  bool // no word has been edited yet
}

// appendPage writes the HTML of a page, in the given edition, to dst.
func (w *Web) appendPage(dst []byte, r pageRef, e edition) []byte {
	var buf [256]byte
	path := w.appendPath(buf[:0], r)
	p := writer{
		Web: w, dst: dst, page: r, style: w.refStyle(r, path), pool: w.language(r.host),
		s:     stream(w.draw(purposeText, r) + e.version*0x9e3779b97f4a7c15),
		links: stream(w.draw(purposeLinks, r)), edits: stream(e.edit), edit: e.edit != 0, must: e.edit != 0,
	}
	target := len(dst) + int(float64(w.cfg.PageBytes)*w.sizes[w.draw(purposeText, r)>>8&0xff])
	d := w.detail(r)
	p.head(path, d)
	p.navigation()
	p.article(target)
	p.foot()
	return p.dst
}

// language deals a host its language: seven in ten are English.
func (w *Web) language(host int) *pool {
	u := hash(w.cfg.Seed, purposeHost, uint64(host), 4) % 10
	if u < 7 {
		return w.pools[0]
	}
	return w.pools[u-6]
}

func (p *writer) put(s string) { p.dst = append(p.dst, s...) }

func (p *writer) head(path []byte, d detail) {
	p.put("<!DOCTYPE html>\n<html lang=\"")
	p.put(p.pool.lang.code)
	p.put("\">\n<head>\n" + headOpen)
	if p.style.base && !p.style.absolute {
		p.put("<base href=\"/\">\n")
	}
	p.put("<title>")
	p.title()
	p.put("</title>\n<meta name=\"description\" content=\"")
	p.words(12)
	p.put("\">\n")
	if !d.tag && d.noindex {
		p.put("<meta name=\"robots\" content=\"noindex\">\n")
	}
	if !d.tag && d.nofollow {
		p.put("<META NAME=\"ROBOTS\" CONTENT=\"index, NOFOLLOW\">\n")
	}
	if !p.style.absolute { // a copy that names its original would be settled without comparing content
		p.put("<link rel=\"canonical\" href=\"")
		p.dst = p.appendOrigin(p.dst, hostRef{ordinary, p.page.host})
		start := len(p.dst)
		p.dst = escapeAmpersands(append(p.dst, path...), start)
		p.put("\">\n")
	}
	p.put("<link rel=\"stylesheet\" href=\"/assets/site.css\">\n" + headClose)
}

// title writes the words of the title: the same at every call.
func (p *writer) title() {
	s := stream(p.draw(purposeText, p.page) ^ 0x7469746c65)
	start := len(p.dst)
	for i := range 3 + s.below(4) {
		if i > 0 {
			p.put(" ")
		}
		p.dst = p.pool.lang.appendWord(p.dst, s.next())
	}
	capitalise(p.dst, start)
}

// words writes n words that hardly any other page has.
func (p *writer) words(n int) {
	start := len(p.dst)
	for i := range n {
		if i > 0 {
			p.put(" ")
		}
		p.dst = p.pool.lang.appendWord(p.dst, p.s.next())
	}
	capitalise(p.dst, start)
}

func (p *writer) navigation() {
	p.put("<body>\n<header><nav><ul>\n<li>")
	p.anchor(pageRef{p.page.host, 0}, "Start", false)
	if p.page.p > branch {
		p.put("</li>\n<li>")
		p.anchor(pageRef{p.page.host, section(p.page.p)}, "Overview", false)
		p.put("</li>\n<li>")
		p.anchor(pageRef{p.page.host, (p.page.p - 1) / branch}, "Up", false)
	}
	p.put("</li>\n</ul></nav></header>\n")
}

// anchor writes a link; an empty text stands for two words.
func (p *writer) anchor(to pageRef, text string, nofollow bool) {
	form := p.links.next()
	p.put("<a href=\"")
	p.dst = p.appendRef(p.dst, to, p.style, form>>16)
	if nofollow {
		p.put("\" rel=\"nofollow ugc\">")
	} else {
		p.put("\">")
	}
	if text == "" {
		p.dst = p.pool.lang.appendWord(p.dst, uint64(p.id(to)))
	} else {
		p.put(text)
	}
	p.put("</a>")
}

// article writes the text up to the target length with the links spread over it.
func (p *writer) article(target int) {
	p.put("<main><article>\n<h1>")
	p.title()
	p.put("</h1>\n<p class=\"lead\">")
	p.words(40)
	p.put(".</p>\n")
	p.lists()
	links := p.cfg.Links - 1
	if p.page.p > branch {
		links -= 2
	}
	from, to := p.children(p.page)
	links = max(links-(to-from), 0)
	least := 600
	if p.style.absolute {
		least = 2500 // 300 words: shorter texts are hardly comparable
	}
	room := max(target-len(p.dst)-links*110-len(footer)-40, least)
	paragraphs := max(room/700, 1)
	for i := range paragraphs {
		p.paragraph(room/paragraphs, links*(i+1)/paragraphs-links*i/paragraphs)
		if i == paragraphs/2 {
			p.figure()
		}
	}
	p.put("</article></main>\n")
}

// paragraph writes so many bytes of sentences, and so many links.
func (p *writer) paragraph(size, links int) {
	p.put("<p>")
	// A paragraph that is longer than planned makes the next one shorter. Sentences are counted as in the original, so
	// that an edited copy has the same ones.
	for p.left += size; p.left > 0; {
		i := p.s.next()
		p.left -= p.sentence(i) + p.sentence(i+1)
	}
	for range links {
		to := p.randomLink(p.page.host, &p.links)
		p.anchor(to, "", p.links.below(25) == 0)
		p.put(", ")
	}
	p.put("</p>\n")
}

// sentence writes a sentence, edited where the edition says so, and returns its length unedited.
func (p *writer) sentence(i uint64) int {
	sentence := p.pool.sentence(i)
	if p.edit {
		p.dst = p.pool.appendEdited(p.dst, sentence, &p.edits, p.must)
		p.must = false
	} else {
		p.dst = append(p.dst, sentence...)
	}
	return len(sentence)
}

func (p *writer) figure() {
	n := p.draw(purposeText, p.page) % 1000
	for _, part := range []string{"<figure><img src=\"/assets/", "-480.jpg\" srcset=\"/assets/",
		"-480.jpg 480w, /assets/"} {
		p.put(part)
		p.dst = strconv.AppendUint(p.dst, n, 10)
	}
	p.put("-960.jpg 960w\" alt=\"A &lt;figure&gt;\" loading=\"lazy\"></figure>\n")
}

// lists writes the links every page hangs on: an index page's to its pages, and a host's first page's to other hosts.
func (p *writer) lists() {
	if from, to := p.children(p.page); from < to {
		p.put("<ul class=\"teaser\">\n")
		for c := from; c < to; c++ {
			p.put("<li>")
			p.anchor(pageRef{p.page.host, c}, "", false)
			p.put("</li>\n")
		}
		p.put("</ul>\n")
	}
	if p.page.p == 0 {
		p.put("<aside><h2>Friends</h2>\n")
		p.hostChildren(p.page.host, func(h hostRef) {
			p.put("<a href=\"")
			p.dst = p.appendOrigin(p.dst, h)
			p.put("/\">")
			p.dst = appendHost(p.dst, h)
			p.put("</a>\n")
		})
		p.put("</aside>\n")
	}
}

func (p *writer) foot() {
	p.put("<footer>")
	p.put(footer)
	p.put("</footer>\n</body>\n</html>\n")
}
