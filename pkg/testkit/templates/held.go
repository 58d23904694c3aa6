package templates

import (
	"fmt"
	"strings"
)

// Held are the families that the inducer is measured on.
func Held() []Family {
	return []Family{{"shop", shop}, {"job", job}, {"news", news}, {"forum", forum}, {"wiki", wiki}, {"table", table},
		{"facts", facts}, {"micro", micro}, {"soup", soup}, {"estate", estate}}
}

// shop is a product: a price beside an old one, others' products below with the same classes.
func shop(s *Site, p *page) {
	name, price := p.words(2, 4), p.money()
	sign := []string{"%s €", "$%s", "EUR %s", "%s", "£%s"}[s.Pick("sign", 5)]
	h := p.e("h1", "class=title", p.is("name", name))
	var old, rating any
	if p.chance(40) {
		old = p.e("del", "class=old", fmt.Sprintf(sign, p.money()))
	}
	prices := p.e("div", "class=prices", old, p.e("span", "class=price", fmt.Sprintf(sign, p.is("price", price))))
	if p.chance(70) {
		n := fmt.Sprintf("%d.%d", 1+p.rnd.IntN(4), p.rnd.IntN(10))
		rating = p.e("p", "class=rating", p.e("span", "class=stars", "Rated "+p.is("rating", n)+" out of 5"),
			p.e("a", "href=#r", fmt.Sprintf("%d reviews", p.rnd.IntN(90))))
	}
	sku := p.e("p", "class=sku", "Article no. ",
		p.e("span", "", p.is("sku", fmt.Sprintf("A%05d-%d", p.rnd.IntN(99999), p.rnd.IntN(9)))))
	if s.Is("sku label") {
		sku = p.e("p", "class=sku", p.e("b", "", "Article no.: "), p.out.Fields["sku"][0])
	}
	list := p.e("ul", "class=features")
	for _, f := range p.sample(features, 2, 5) {
		list.kids = append(list.kids, p.e("li", "", p.is("features", f)))
	}
	src := fmt.Sprintf("/img/%d/%s.jpg", p.n, strings.ReplaceAll(strings.ToLower(name), " ", "-"))
	p.is("image", src)
	img := p.e("div", "class=gallery", p.e("img", "class=photo").with("src", src).with("alt", name),
		p.e("img", "class=thumb src=/img/t.jpg"))
	others := p.e("div", "class=others", p.e("h2", "", "Others bought"))
	for range 3 {
		others.kids = append(others.kids, p.e("div", "class=card", p.e("img", "class=photo src=/img/o.jpg"),
			p.e("h3", "class=title", p.words(2, 3)), p.e("span", "class=price", fmt.Sprintf(sign, p.money()))))
	}
	crumbs := p.e("ol", "class=crumbs", p.e("li", "", "Shop"), p.e("li", "", p.some(nouns)), p.e("li", "", name))
	var meta []any
	if s.Is("og") {
		meta = []any{p.meta("property", "og:title", name), p.meta("property", "og:image", src)}
	}
	p.document(fmt.Sprintf("/p/%d", 1000+p.n), name, meta, crumbs,
		p.wrapped("product", p.e("div", "class=product", img, h, rating, prices, sku,
			p.e("h2", "", "Features"), list)), others)
}

// job is a posting: facts in a line or a list, some of them missing, and requirements among other lists.
func job(s *Site, p *page) {
	title, firm, city, at := p.words(1, 3)+" "+p.some([]string{"engineer", "keeper", "teacher"}),
		p.some(brands)+" "+p.some(lastNames), p.some(cities), p.day()
	p.is("title", title)
	p.is("company", firm)
	p.is("location", city)
	line := p.e("p", "class=where", p.e("a", "class=firm", firm).with("href", "/firms/"+strings.ToLower(firm[:4])),
		p.e("span", "class=sep", "·"), p.e("span", "class=city", city))
	if s.Is("two lines") {
		line = p.e("div", "class=where", p.e("div", "class=firm", firm), p.e("div", "class=city", city))
	}
	var pay any
	if p.chance(60) {
		pay = p.e("p", "class=pay", p.e("strong", "", "Salary: "),
			p.is("salary", fmt.Sprintf("%d,000", 20+p.rnd.IntN(90)))+" € a year")
	}
	when := p.e("p", "class=posted", "Posted on ", p.e("time", "", at.words()).with("datetime", p.is("posted", at.iso())))
	kind := p.e("p", "class=kind", p.e("strong", "", "Hours: "),
		p.is("hours", p.some([]string{"full time", "part time", "by shifts"})))
	tasks, wants := p.e("ul", "class=list"), p.e("ul", "class=list")
	for range 3 + p.rnd.IntN(2) {
		tasks.kids = append(tasks.kids, p.e("li", "", "You "+p.words(3, 6)))
	}
	for _, w := range p.sample(skills, 2, 6) {
		wants.kids = append(wants.kids, p.e("li", "", p.is("requirements", w)))
	}
	blocks := []any{p.e("h2", "class=head", "Your tasks"), tasks, p.ad(), p.e("h2", "class=head", "What you bring"), wants}
	if p.chance(30) {
		blocks = append([]any{p.e("h2", "class=head", "About us"), p.e("p", "", p.words(8, 20)),
			p.e("ul", "class=list", p.e("li", "", "Founded in 1990"))}, blocks...)
	}
	href := fmt.Sprintf("/apply/%d", p.n)
	p.is("apply", href)
	p.document(fmt.Sprintf("/jobs/%d", p.n), title+" at "+firm, nil, p.e("h1", "class=title", title), line,
		p.e("div", "class=facts", pay, kind, when), p.e("div", "class=text", blocks...),
		p.e("a", "class=button", "Apply now").with("href", href))
}

// news is an article: one to three authors, teasers with dates and titles beside it.
func news(s *Site, p *page) {
	title, at, section := p.words(4, 9), p.day(), p.some(topics)
	p.is("headline", title)
	by := p.e("p", "class=byline", "By ")
	for i := range 1 + p.rnd.IntN(3) {
		if i > 0 {
			by.kids = append(by.kids, ", ")
		}
		by.kids = append(by.kids, p.e("a", "class=author rel=author href=/authors/"+fmt.Sprint(i),
			p.is("authors", p.person()+strings.Repeat("-Li", i))))
	}
	stamp := p.e("time", "class=date", at.words()).with("datetime", at.iso()+"T08:30:00Z")
	p.is("published", at.iso())
	lead := p.e("p", "class=lead", p.is("lead", p.words(8, 16)+"."))
	if p.chance(30) {
		lead.kids = append(lead.kids, p.e("a", "class=more href=#more", ""))
	}
	text := p.e("div", "class=body")
	for range 3 + p.rnd.IntN(4) {
		text.kids = append(text.kids, p.e("p", "", p.words(15, 40)+"."), p.ad())
	}
	tags := p.e("ul", "class=tags")
	for _, t := range p.sample(nouns, 1, 5) {
		tags.kids = append(tags.kids, p.e("li", "", p.e("a", "class=tag rel=tag href=/t/"+t, p.is("tags", t))))
	}
	crumb := p.e("div", "class=crumbs", p.e("a", "href=/", "News"), " › ",
		p.e("a", "", p.is("section", section)).with("href", "/"+section))
	side := p.e("aside", "class=side", p.e("h2", "", "Most read"))
	for range 4 {
		d := p.day()
		side.kids = append(side.kids, p.e("article", "class=teaser", p.e("h3", "class=title", p.words(4, 8)),
			p.e("time", "class=date", d.words()).with("datetime", d.iso()+"T10:00:00Z")))
	}
	meta := []any{p.meta("name", "description", p.words(5, 9))}
	if s.Is("og") {
		meta = append(meta, p.meta("property", "og:title", title),
			p.meta("property", "article:published_time", at.iso()+"T08:30:00Z"))
	}
	parts := []any{crumb, p.e("h1", "class=title", title), by, stamp, lead, text, tags}
	if s.Is("dated first") {
		parts = []any{crumb, stamp, p.e("h1", "class=title", title), lead, by, text, tags}
	}
	p.document(fmt.Sprintf("/%s/%s-%d", section, strings.ReplaceAll(strings.ToLower(title), " ", "-"), p.n), title, meta,
		p.e("article", "class=story", parts...), side)
}

// forum is a thread: lists of authors, dates and ids, signatures, quotes and a crowd of badges.
func forum(_ *Site, p *page) {
	title := p.words(3, 7)
	posts := 1 + p.rnd.IntN(6)
	replies := fmt.Sprint(posts*7 + p.rnd.IntN(7))
	p.is("replies", replies)
	p.is("topic", title)
	thread := p.e("div", "class=thread")
	for i := range posts {
		who, at := p.person()+fmt.Sprint(i), p.day()
		var badge, quote, sig any
		if p.chance(40) {
			badge = p.e("span", "class=badge", p.some([]string{"Staff", "New", "Top poster"}))
		}
		if i > 0 && p.chance(40) {
			quote = p.e("blockquote", "class=quote", p.e("b", "", p.person()), p.words(4, 9))
		}
		if p.chance(40) {
			sig = p.e("div", "class=signature", p.words(3, 5))
		}
		thread.kids = append(thread.kids,
			p.e("div", "class=post", p.e("div", "class=user", badge,
				p.e("a", "class=name", p.is("authors", who)).with("href", fmt.Sprintf("/u/%d", p.rnd.IntN(999)))),
				p.e("div", "class=entry", p.e("span", "class=date", p.is("dates", at.words())), quote,
					p.e("div", "class=message", p.is("messages", p.words(6, 18)+".")), sig)).
				with("id", fmt.Sprintf("post-%d", p.rnd.IntN(99999))), p.ad())
	}
	category := p.some(topics)
	head := p.e("div", "class=head", p.e("h1", "class=topic", title),
		p.e("p", "class=info", replies+" replies, "+fmt.Sprint(p.rnd.IntN(9000))+" views"),
		p.e("span", "class=category", "in ", p.e("a", "href=/c/"+category, p.is("category", category))))
	others := p.e("div", "class=others", p.e("h2", "", "Like this"))
	for range 3 {
		others.kids = append(others.kids, p.e("a", "class=topic href=/t/9", p.words(3, 6)),
			p.e("span", "class=date", p.day().words()))
	}
	p.document(fmt.Sprintf("/t/%d", p.n), title, nil, head, p.wrapped("thread", thread), others)
}

// wiki is an article with a box of facts, of which each page has others, in an order of its own.
func wiki(_ *Site, p *page) {
	name := p.words(1, 2) + " " + p.some(lastNames)
	p.is("name", name)
	rows := []any{}
	row := func(label string, value ...any) {
		rows = append(rows, p.e("tr", "", p.e("th", "class=label", label), p.e("td", "class=data", value...)))
	}
	row("Country", p.e("a", "href=/wiki/c",
		p.is("country", p.some([]string{"Norway", "Portugal", "Latvia", "Chile", "Ghana"}))))
	if p.chance(80) {
		row("Population", p.is("population", fmt.Sprintf("%d,%03d", 1+p.rnd.IntN(900), p.rnd.IntN(1000))),
			p.e("sup", "", "[1]"))
	}
	if p.chance(80) {
		row("Mayor", p.is("mayor", p.person()))
	}
	row("Area", p.is("area", fmt.Sprintf("%d.%d", 10+p.rnd.IntN(900), p.rnd.IntN(10)))+" km²")
	if p.chance(60) {
		row("Founded", p.is("founded", fmt.Sprint(1100+p.rnd.IntN(800))))
	}
	row("Time zone", "CET")
	if p.chance(50) {
		row("Former mayor", p.person())
	}
	box := p.e("table", "class=infobox", append([]any{p.e("caption", "", name)}, p.shuffled(rows...)...)...)
	cats := p.e("div", "class=categories", p.e("b", "", "Categories: "))
	for _, c := range p.sample(topics, 2, 4) {
		cats.kids = append(cats.kids, p.e("a", "href=/wiki/Category:"+c, p.is("categories", c)), " ")
	}
	text := []any{p.e("p", "", p.e("b", "", name), " is "+p.words(5, 12)+".")}
	for range 2 + p.rnd.IntN(3) {
		text = append(text, p.e("h2", "class=heading", p.words(1, 2)), p.e("p", "", p.words(15, 30)),
			p.e("ul", "", p.e("li", "", p.words(2, 4)), p.e("li", "", p.words(2, 4))))
	}
	parts := []any{p.e("h1", "class=heading", name), box, p.e("div", "class=text", text...)}
	if p.chance(30) {
		parts = []any{parts[0], p.e("table", "class=notice", p.e("tr", "", p.e("td", "", "This page needs work"))), parts[1],
			parts[2]}
	}
	p.document("/wiki/"+strings.ReplaceAll(name, " ", "_"), name, nil, append(parts, cats)...)
}
