package templates

import (
	"fmt"
	"strings"
)

// Later are families that were written after the inducer, with layouts that Held lacks: amounts in pieces, ratings as
// attributes, breadcrumbs, dates in pieces, labels in the language of each page, rows of items, nested facts.
func Later() []Family {
	return []Family{{"offer", offer}, {"evening", evening}, {"dish", dish}, {"person", person}, {"review", review},
		{"glossary", glossary}, {"linked", linked}}
}

// offer is a price in pieces, with its currency apart; a rating that is an attribute; breadcrumbs; an image that is
// loaded later.
func offer(s *Site, p *page) {
	name := p.words(2, 4)
	p.is("name", name)
	crumbs := p.e("ol", "class=path")
	for _, c := range append([]string{"Home"}, p.sample(topics, 1, 3)...) {
		crumbs.kids = append(crumbs.kids, p.e("li", "class=step", p.e("a", "href=/c", p.is("path", c))))
	}
	amount := p.money()
	p.is("price", amount)
	sign := []string{"€", "$", "CHF", "£", "kr"}[s.Pick("sign", 5)]
	price := p.e("p", "class=price", p.e("span", "class=unit", sign), p.e("span", "class=amount", amount))
	if s.Is("unit behind") {
		price = p.e("p", "class=price", p.e("span", "class=amount", amount), p.e("span", "class=unit", sign))
	}
	price.kids = append(price.kids, p.e("small", "", "incl. VAT"))
	stars := p.is("rating", fmt.Sprintf("%d.%d", 1+p.rnd.IntN(4), p.rnd.IntN(10)))
	rating := p.e("div", "class=stars").with([]string{"data-rating", "data-score", "title"}[s.Pick("rating in", 3)], stars)
	src := p.is("image", fmt.Sprintf("/media/%d/%d.webp", p.n, p.rnd.IntN(9999)))
	img := p.e("img", "class=picture").with([]string{"src", "data-src"}[s.Pick("image in", 2)], src).with("alt", name)
	var stock any
	if p.chance(60) {
		stock = p.e("p", "class=stock", p.is("stock", fmt.Sprintf("%d in stock", 1+p.rnd.IntN(40))))
	}
	buy := p.e("form", "class=buy", p.e("input", "type=number name=n value=1"), p.e("button", "", "Add to basket"))
	blocks := []any{img, price, stock, rating, buy}
	if s.Is("any order") {
		blocks = p.shuffled(blocks...)
	}
	side := p.e("aside", "class=side", p.e("h2", "", "Seen lately"))
	for range 2 + p.rnd.IntN(3) {
		side.kids = append(side.kids, p.e("div", "class=tile", p.e("a", "href=/p/1", p.words(2, 3)),
			p.e("span", "class=small-price", p.money())))
	}
	p.document(fmt.Sprintf("/offer/%d", p.n), name, nil, crumbs, p.e("h1", "class=name", name),
		p.e("div", "class=box", blocks...), p.ad(), side)
}

// evening has its date in pieces and as an attribute, a place of several lines, speakers with their firms, and a price
// that is free now and then.
func evening(s *Site, p *page) {
	title, at, city := p.words(2, 5), p.day(), p.some(cities)
	p.is("title", title)
	when := p.e("time", "class=when", p.e("span", "class=day", fmt.Sprint(at.d)), " ",
		p.e("span", "class=month", months[at.m-1][:3]), " ", p.e("span", "class=year", fmt.Sprint(at.y)))
	when.with("datetime", p.is("date", at.iso()))
	hour := p.is("begins", fmt.Sprintf("%02d:%02d", 8+p.rnd.IntN(12), 15*p.rnd.IntN(4)))
	hours := p.e("p", "class=hours", "Doors open at ", p.e("b", "", hour), ", the end is open")
	if s.Is("hours plain") {
		hours = p.e("p", "class=hours", hour)
	}
	place := p.e("address", "class=place", p.e("span", "class=hall", "Hall "+fmt.Sprint(1+p.rnd.IntN(9))), p.e("br", ""),
		p.e("span", "class=city", p.is("city", city)))
	fee := "free"
	if p.chance(70) {
		fee = fmt.Sprintf("%d €", 5+p.rnd.IntN(80))
	}
	entry := p.e("dl", "class=entry", p.e("dt", "", "Entry"), p.e("dd", "", p.is("entry", fee)), p.e("dt", "", "Seats"),
		p.e("dd", "", fmt.Sprint(20+p.rnd.IntN(400))))
	speakers := p.e("ul", "class=speakers")
	for range 1 + p.rnd.IntN(4) {
		speakers.kids = append(speakers.kids, p.e("li", "class=speaker",
			p.e("span", "class=who", p.is("speakers", p.person())), p.e("span", "class=firm", p.some(brands))))
	}
	var note any
	if p.chance(40) {
		note = p.e("p", "class=note", p.e("strong", "", "Note: "), p.words(4, 8))
	}
	blocks := []any{when, hours, place, note, entry, p.e("h2", "", "Speakers"), speakers}
	if s.Is("speakers first") {
		blocks = []any{p.e("h2", "", "Speakers"), speakers, note, when, place, hours, entry}
	}
	p.document(fmt.Sprintf("/events/%d/%s", at.y, strings.ToLower(strings.ReplaceAll(title, " ", "-"))), title, nil,
		p.e("h1", "class=headline", title), p.wrapped("event", p.e("section", "class=event", blocks...)))
}

// dish has ingredients with their amounts apart, steps, times in facts that come in any order, and tags.
func dish(_ *Site, p *page) {
	title := p.words(2, 3)
	p.is("title", title)
	list := p.e("ul", "class=ingredients")
	for range 3 + p.rnd.IntN(5) {
		amount, thing := fmt.Sprintf("%d g", 10*(1+p.rnd.IntN(60))), p.some(nouns)
		list.kids = append(list.kids, p.e("li", "", p.e("span", "class=amount", amount), " ",
			p.e("span", "class=thing", p.is("ingredients", thing))))
	}
	steps := p.e("ol", "class=steps")
	for range 2 + p.rnd.IntN(4) {
		steps.kids = append(steps.kids, p.e("li", "class=step", p.is("steps", p.words(5, 12)+".")))
	}
	facts := []any{p.e("div", "class=fact", p.e("span", "class=label", "Time"),
		p.e("span", "class=value", p.is("time", fmt.Sprintf("%d min", 5*(1+p.rnd.IntN(20)))))),
		p.e("div", "class=fact", p.e("span", "class=label", "Serves"),
			p.e("span", "class=value", p.is("serves", fmt.Sprint(1+p.rnd.IntN(8)))))}
	if p.chance(60) {
		facts = append(facts, p.e("div", "class=fact", p.e("span", "class=label", "Effort"),
			p.e("span", "class=value", p.is("effort", p.some([]string{"low", "medium", "high"})))))
	}
	tags := p.e("p", "class=tags")
	for _, t := range p.sample(topics, 1, 4) {
		tags.kids = append(tags.kids, p.e("a", "class=tag rel=tag href=/t", p.is("tags", t)), " ")
	}
	by := p.e("p", "class=by", "By ", p.e("a", "class=author href=/cooks", p.is("cook", p.person())))
	p.document(fmt.Sprintf("/recipes/%d", p.n), title, nil, p.e("h1", "class=title", title), by,
		p.e("div", "class=facts", p.shuffled(facts...)...), p.ad(), list, p.ad(), steps, tags)
}

// person has what is known of somebody, most of it now and then: addresses of mail and telephone in links, a list of
// papers, and several firms.
func person(_ *Site, p *page) {
	name := p.person()
	p.is("name", name)
	card := p.e("div", "class=card", p.e("h1", "class=name", name),
		p.e("p", "class=role", p.is("role",
			p.some([]string{"Professor", "Engineer", "Curator", "Editor"})+" of "+p.some(topics))))
	if p.chance(70) {
		mail := strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@uni.test"
		card.kids = append(card.kids, p.e("p", "class=contact", p.e("span", "class=icon", "✉"),
			p.e("a", "class=mail", p.is("mail", mail)).with("href", "mailto:"+mail)))
	}
	if p.chance(70) {
		phone := fmt.Sprintf("+31 20 %03d %04d", p.rnd.IntN(999), p.rnd.IntN(9999))
		card.kids = append(card.kids, p.e("p", "class=contact", p.e("span", "class=icon", "☎"),
			p.e("a", "class=phone", p.is("phone", phone)).with("href", "tel:"+strings.ReplaceAll(phone, " ", ""))))
	}
	if p.chance(60) {
		card.kids = append(card.kids, p.e("p", "class=room", "Room ",
			p.e("span", "class=number", p.is("room",
				fmt.Sprintf("%c%d.%02d", 'A'+rune(p.rnd.IntN(5)), p.rnd.IntN(6), p.rnd.IntN(40))))))
	}
	papers := p.e("div", "class=papers", p.e("h2", "", "Publications"))
	for range 1 + p.rnd.IntN(6) {
		year := p.is("years", fmt.Sprint(1990+p.rnd.IntN(36)))
		papers.kids = append(papers.kids, p.e("article", "class=paper",
			p.e("a", "class=link href=/papers/1", p.is("papers", p.words(3, 7))), " (", p.e("span", "class=year", year), ")"))
	}
	p.document("/people/"+strings.ToLower(strings.Fields(name)[1])+fmt.Sprint(p.n), name, nil, p.wrapped("card", card),
		p.ad(), papers)
}

// review has rows of reviews below a verdict: an author, stars by their number or in a label, a date, a text.
func review(s *Site, p *page) {
	thing := p.words(1, 3)
	p.is("thing", thing)
	score := p.is("score", fmt.Sprintf("%d", 10+p.rnd.IntN(90)))
	head := p.e("div", "class=verdict", p.e("span", "class=score", score), p.e("span", "class=of", "/100"))
	if s.Is("score in label") {
		head = p.e("div", "class=verdict").with("aria-label", score+" of 100")
	}
	rows := p.e("div", "class=rows")
	for range 1 + p.rnd.IntN(5) {
		at := p.day()
		stars := p.is("stars", fmt.Sprint(1+p.rnd.IntN(5)))
		row := p.e("div", "class=row", p.e("span", "class=who", p.is("authors", p.person())),
			p.e("span", "class=stars role=img").with("aria-label", stars+" stars"),
			p.e("time", "class=date", at.words()).with("datetime", p.is("dates", at.iso())),
			p.e("p", "class=text", p.is("texts", p.words(5, 15))))
		if p.chance(30) {
			row.kids = append(row.kids, p.e("div", "class=answer", p.e("span", "class=from", "The shop"),
				p.e("p", "", p.words(4, 8))))
		}
		rows.kids = append(rows.kids, row)
	}
	var pros any
	if p.chance(60) {
		list := p.e("ul", "class=pros")
		for _, f := range p.sample(features, 1, 3) {
			list.kids = append(list.kids, p.e("li", "", p.is("pros", f)))
		}
		pros = p.e("div", "class=good", p.e("h3", "", "Good"), list)
	}
	p.document(fmt.Sprintf("/reviews/%d", p.n), thing, nil, p.e("h1", "class=thing", thing), head, pros, p.ad(), rows)
}

// glossary is a page in one of three languages, and so are its labels: what is what is said by names and places alone.
func glossary(s *Site, p *page) {
	term := p.words(1, 2)
	p.is("term", term)
	in := p.rnd.IntN(3)
	label := func(en, de, fr string) string { return []string{en, de, fr}[in] }
	def := p.e("p", "class=definition", p.is("definition", p.words(6, 14)+"."))
	rows := p.e("table", "class=facts")
	row := func(name, class string, value any) *element {
		return p.e("tr", "class="+class, p.e("th", "", name), p.e("td", "", value))
	}
	rows.kids = append(rows.kids, row(label("Origin", "Herkunft", "Origine"), "origin", p.is("origin", p.some(cities))),
		row(label("First seen", "Erstmals", "Première fois"), "seen", p.is("seen", fmt.Sprint(1500+p.rnd.IntN(500)))))
	if p.chance(50) {
		rows.kids = append(rows.kids, row(label("Plural", "Mehrzahl", "Pluriel"), "plural", p.is("plural", term+"s")))
	}
	also := p.e("div", "class=also", p.e("h2", "", label("See also", "Siehe auch", "Voir aussi")))
	for range 1 + p.rnd.IntN(4) {
		also.kids = append(also.kids, p.e("a", "class=entry href=/g/1", p.is("also", p.words(1, 2))), " ")
	}
	blocks := []any{def, rows, p.ad(), also}
	if s.Is("also first") {
		blocks = []any{also, p.ad(), def, rows}
	}
	p.document(fmt.Sprintf("/%s/%d", []string{"en", "de", "fr"}[in], p.n), term, nil, p.e("h1", "class=term", term),
		p.e("article", "class=entry", blocks...))
}

// linked says most of what it is about in JSON-LD alone, beside a script of another kind and other data.
func linked(s *Site, p *page) {
	name := p.words(2, 4)
	p.is("name", name)
	brand, sku, price, at := p.is("brand", p.some(brands)), p.is("sku", fmt.Sprintf("K-%05d", p.rnd.IntN(99999))),
		p.is("price", p.money()), p.day()
	p.is("released", at.iso())
	space := []string{"", " ", "\n  "}[s.Pick("space", 3)]
	offer := fmt.Sprintf(`{"@type":%[1]s"Offer","price":%[1]s"%[2]s","priceCurrency":%[1]s"EUR"}`, space, price)
	parts := []string{`"@type":` + space + `"Product"`, `"name":` + space + `"` + name + `"`,
		fmt.Sprintf(`"brand":%[1]s{"@type":%[1]s"Brand","name":%[1]s"%[2]s"}`, space, brand),
		`"sku":` + space + `"` + sku + `"`, `"offers":` + space + offer, `"releaseDate":` + space + `"` + at.iso() + `"`}
	if s.Is("data in any order") {
		p.rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	data := p.e("script", "type=application/ld+json", "{"+space+strings.Join(parts, ","+space)+space+"}")
	crumbs := p.e("script", "type=application/ld+json",
		`{"@type":"BreadcrumbList","itemListElement":[{"position":1,"name":"Home"}]}`)
	meta := []any{crumbs, data}
	if s.Is("data first") {
		meta = []any{data, crumbs}
	}
	p.document(fmt.Sprintf("/l/%d", p.n), name, meta, p.e("h1", "class=name", name),
		p.e("div", "id=app", p.e("p", "class=wait", "Loading …")))
}
