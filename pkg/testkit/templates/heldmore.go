package templates

import (
	"fmt"
	"strings"
)

// table is a list of things as a table: fields are columns.
func table(s *Site, p *page) {
	title := "List of " + p.some(nouns) + "s " + fmt.Sprint(p.n)
	p.is("title", title)
	columns := []string{"Name", "Country", "Height", "Year"}
	at := s.Pick("first column", 4)
	columns = append(columns[at:], columns[:at]...)
	if s.Is("numbered") {
		columns = append([]string{"No."}, columns...)
	}
	head := p.e("tr", "")
	for _, c := range columns {
		head.kids = append(head.kids, p.e("th", "", c))
	}
	t := p.e("table", "class=list", p.e("thead", "", head))
	rows := p.e("tbody", "")
	n := 3 + p.rnd.IntN(9)
	for i := range n {
		row := p.e("tr", []string{"class=even", "class=odd"}[i%2])
		for _, c := range columns {
			var v any
			switch c {
			case "Name":
				v = p.e("a", "href=/x/"+fmt.Sprint(i), p.is("names", p.words(1, 2)+" "+fmt.Sprint(i+1)))
			case "Country":
				v = p.some([]string{"Norway", "Chile", "Ghana", "Latvia"})
			case "Height":
				v = p.is("heights", fmt.Sprint(100+p.rnd.IntN(3000))) + " m"
			case "Year":
				v = p.is("years", fmt.Sprint(1900+p.rnd.IntN(120)))
			default:
				v = fmt.Sprint(i + 1)
			}
			row.kids = append(row.kids, p.e("td", "class="+strings.ToLower(strings.Trim(c, ".")), v))
		}
		rows.kids = append(rows.kids, row)
	}
	t.kids = append(t.kids, rows)
	other := p.e("table", "class=legend", p.e("tr", "", p.e("td", "", "Height"), p.e("td", "", "in metres")))
	total := p.e("p", "class=total", "There are ", p.e("b", "", p.is("total", fmt.Sprint(n*3+p.rnd.IntN(3)))), " in all.")
	blocks := []any{p.e("h1", "class=title", title), total, t, other}
	if s.Is("legend first") {
		blocks = []any{p.e("h1", "class=title", title), other, t, total}
	}
	p.document(fmt.Sprintf("/lists/%d", p.n), title, nil, blocks...)
}

// facts are definition lists in any order, without classes where the site has none: labels alone say what is what.
func facts(s *Site, p *page) {
	title := p.is("title", p.words(2, 3))
	pairs := [][2]string{{"Author", "author"}, {"Publisher", "publisher"}, {"ISBN", "isbn"}, {"Pages", "pages"},
		{"Language", "language"}, {"Weight", ""}, {"Series", ""}}
	value := map[string]func() string{
		"author": p.person, "publisher": func() string { return p.some(brands) + " & Sons" },
		"isbn":     func() string { return fmt.Sprintf("978-%d-%d", p.rnd.IntN(10), p.rnd.IntN(1e8)) },
		"pages":    func() string { return fmt.Sprint(50 + p.rnd.IntN(900)) },
		"language": func() string { return p.some([]string{"English", "Dutch", "Français", "Türkçe"}) },
		"":         func() string { return p.words(1, 2) }}
	colon := []string{"", ":"}[s.Pick("colon", 2)]
	var rows []any
	for _, pair := range pairs {
		if pair[1] != "author" && p.chance(25) {
			continue
		}
		v := value[pair[1]]()
		if pair[1] != "" {
			p.is(pair[1], v)
		}
		var dd any = v
		if pair[1] == "author" && s.Is("linked") {
			dd = p.e("a", "href=/a/1", v)
		}
		term, what := p.e("dt", "", pair[0]+colon), p.e("dd", "", dd)
		if s.Is("rows") {
			rows = append(rows, p.e("div", "class=row", term, what))
		} else {
			rows = append(rows, []any{term, what})
		}
	}
	dl := p.e("dl", "class=facts", p.shuffled(rows...)...)
	second := p.e("dl", "class=facts", p.e("dt", "", "Delivery"+colon),
		p.e("dd", "", p.some([]string{"today", "tomorrow"})), p.e("dt", "", "Returns"+colon), p.e("dd", "", "30 days"))
	chapters := p.e("ol", "class=chapters")
	for i := range 2 + p.rnd.IntN(6) {
		chapters.kids = append(chapters.kids, p.e("li", "", p.is("chapters", p.words(2, 5)+fmt.Sprint(i))))
	}
	lists := []any{dl, second}
	if s.Is("second first") {
		lists = []any{second, dl}
	}
	p.document(fmt.Sprintf("/books/%d", p.n), title, nil, p.e("h1", "", title), p.e("div", "class=lists", lists...),
		p.e("h2", "", "Contents"), chapters)
}

// micro has microdata, items within items with properties of one name, and no other names where the site is of
// utilities.
func micro(s *Site, p *page) {
	name, price, at := p.words(2, 4), p.money(), p.day()
	brand := p.some(brands)
	p.is("name", name)
	p.is("brand", brand)
	p.is("price", price)
	p.is("released", at.iso())
	offer := p.e("div", "itemprop=offers itemscope itemtype=https://schema.org/Offer class=offer",
		p.e("meta", "itemprop=priceCurrency content=EUR"),
		p.e("span", "itemprop=price class=price", "€ "+price).with("content", price),
		p.e("link", "itemprop=availability").with("href",
			"https://schema.org/"+p.is("stock", p.some([]string{"InStock", "OutOfStock", "PreOrder"}))))
	maker := p.e("div", "itemprop=brand itemscope itemtype=https://schema.org/Brand class=maker",
		p.e("span", "itemprop=name", brand))
	var reviews []any
	for range p.rnd.IntN(4) {
		d := p.day()
		reviews = append(reviews, p.e("div", "itemprop=review itemscope itemtype=https://schema.org/Review class=review",
			p.shuffled(p.e("span", "itemprop=author class=by", p.is("reviewers", p.person())),
				p.e("meta", "itemprop=datePublished").with("content", d.iso()),
				p.e("span", "itemprop=name class=head", p.words(2, 4)))...))
	}
	title := p.e("h1", "itemprop=name class=title", name)
	release := p.e("p", "class=released", "Released ",
		p.e("time", "itemprop=releaseDate", at.words()).with("datetime", at.iso()))
	blocks := p.shuffled(offer, maker, release,
		p.e("p", "itemprop=description class=text", p.is("description", p.words(8, 20))))
	if s.Is("title last") {
		blocks = append(blocks, title)
	} else {
		blocks = append([]any{title}, blocks...)
	}
	item := p.e("div", "itemscope itemtype=https://schema.org/Product class=item",
		append(blocks, p.e("div", "class=reviews", reviews...))...)
	p.document(fmt.Sprintf("/items/%d", p.n), name, nil, p.wrapped("item", item))
}

// soup is nothing but div and span in each other, some of them now and then.
func soup(s *Site, p *page) {
	name := p.words(2, 3)
	maybe := func(kid any) any {
		if p.chance(30) {
			return p.e("div", "", kid)
		}
		return kid
	}
	pair := func(field, label, value string) any {
		p.is(field, value)
		l, v := p.e("div", "class=label", p.e("span", "", label)), p.e("div", "class=value", p.e("span", "", value))
		if s.Is("flat") {
			l, v = p.e("div", "class=label", label), p.e("div", "class=value", value)
		}
		return p.e("div", "class=pair", l, v)
	}
	pairs := []any{pair("city", "City", p.some(cities)),
		pair("phone", "Phone", fmt.Sprintf("+31 %d %d", 10+p.rnd.IntN(80), 100000+p.rnd.IntN(899999))),
		pair("owner", "Owner", p.person()),
		p.e("div", "class=pair", p.e("div", "class=label", "Fax"), p.e("div", "class=value", fmt.Sprint(p.rnd.IntN(9999))))}
	if p.chance(60) {
		pairs = append(pairs, pair("seats", "Seats", fmt.Sprint(10+p.rnd.IntN(90))))
	}
	if s.Is("shuffled") {
		pairs = p.shuffled(pairs...)
	}
	dishes := p.e("div", "class=dishes")
	for i := range 3 + p.rnd.IntN(5) {
		var hot any
		if p.chance(30) {
			hot = p.e("span", "class=hot", "hot!")
		}
		dishes.kids = append(dishes.kids,
			p.e("div", "class=dish", p.e("div", "class=dishname", p.is("dishes", p.words(2, 3)+fmt.Sprint(i))), hot,
				p.e("div", "class=cost", p.e("span", "", p.is("costs", p.money())), p.e("span", "", "€"))))
	}
	p.is("name", name)
	p.document(fmt.Sprintf("/r/%d", p.n), "Eat at "+name, nil,
		p.e("div", "class=hero", p.e("div", "class=kicker", p.some(topics)), p.e("div", "class=name", name)),
		maybe(p.e("div", "class=box", pairs...)), p.wrapped("dishes", maybe(dishes)))
}

// estate is a house: blocks and facts in any order, values within sentences.
func estate(s *Site, p *page) {
	title := p.words(1, 2) + " house in " + p.some(cities)
	p.is("title", title)
	price := fmt.Sprintf("%d,%03d", 90+p.rnd.IntN(800), p.rnd.IntN(1000))
	rooms, area := fmt.Sprint(2+p.rnd.IntN(7)), fmt.Sprint(40+p.rnd.IntN(300))
	p.is("price", price)
	p.is("rooms", rooms)
	p.is("area", area)
	facts := []any{p.e("li", "class=fact", p.e("b", "", "Rooms:"), " "+rooms),
		p.e("li", "class=fact", p.e("b", "", "Living area:"), " "+area+" m²"),
		p.e("li", "class=fact", p.e("b", "", "Energy class:"), " "+p.some([]string{"A", "B", "C"}))}
	if p.chance(50) {
		facts = append(facts, p.e("li", "class=fact", p.e("b", "", "Built:"),
			" "+p.is("built", fmt.Sprint(1850+p.rnd.IntN(170)))))
	}
	if p.chance(40) {
		facts = append(facts, p.e("li", "class=fact", p.e("b", "", "Garden:"), " yes"))
	}
	agent := p.person()
	mail := strings.ToLower(strings.Fields(agent)[0][:1]) + fmt.Sprint(p.n) + "@agents.test"
	p.is("agent", agent)
	p.is("mail", mail)
	cost := p.e("div", "class=price", "Asking price: € "+price+" k.k.")
	if s.Is("split price") {
		cost = p.e("div", "class=price", p.e("span", "class=note", "Asking price"), p.e("strong", "", "€ "+price))
	}
	ref := p.e("p", "class=ref", "Reference "+p.is("ref", fmt.Sprintf("H-%04d", p.rnd.IntN(9999)))+", online since "+
		p.day().words())
	photos := p.e("div", "class=photos")
	for i := range 1 + p.rnd.IntN(4) {
		photos.kids = append(photos.kids, p.e("img", "class=photo").with("src",
			p.is("photos", fmt.Sprintf("/f/%d-%d.jpg", p.n, i))).with("alt", fmt.Sprint("photo ", i+1)))
	}
	card := p.e("div", "class=agent", p.e("img", "class=face src=/faces/1.jpg"),
		p.e("p", "", "Your agent: ", p.e("span", "class=who", agent)),
		p.e("a", "class=mail", "Write").with("href", "mailto:"+mail))
	blocks := p.shuffled(cost, p.e("ul", "class=facts", p.shuffled(facts...)...), p.e("p", "class=text", p.words(15, 40)),
		ref, photos, card)
	p.document(fmt.Sprintf("/houses/%d", p.n), title, nil, append([]any{p.e("h1", "class=title", title)}, blocks...)...)
}
