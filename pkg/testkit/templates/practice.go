package templates

import (
	"fmt"
	"strings"
)

// Practice are the families that the inducer was tuned on.
func Practice() []Family {
	return []Family{{"recipe", recipe}, {"event", event}, {"profile", profile}, {"release", release}, {"hotel", hotel},
		{"lyrics", lyrics}}
}

// recipe has two lists under headings, times in sentences, and a score in an attribute.
func recipe(s *Site, p *page) {
	title := p.words(2, 4)
	p.is("title", title)
	ingredients, steps := p.e("ul", "class=items"), p.e("ol", "class=steps")
	for i := range 3 + p.rnd.IntN(4) {
		ingredients.kids = append(ingredients.kids, p.e("li", "", p.e("span", "class=much", fmt.Sprint(i+1, " g")), " ",
			p.e("span", "class=what", p.is("ingredients", p.words(1, 2)+fmt.Sprint(i)))))
	}
	for range 2 + p.rnd.IntN(4) {
		steps.kids = append(steps.kids, p.e("li", "", p.is("steps", p.words(5, 9)+".")))
	}
	var tip any
	if p.chance(40) {
		tip = p.e("div", "class=tip", p.e("h3", "", "Tip"), p.e("ul", "class=items", p.e("li", "", p.words(3, 5))))
	}
	minutes, score := fmt.Sprint(5+p.rnd.IntN(90)), fmt.Sprintf("%d.5", 1+p.rnd.IntN(4))
	times := p.e("p", "class=times", p.e("span", "", "Ready in "+p.is("minutes", minutes)+" minutes"),
		p.e("span", "", "for "+p.is("persons", fmt.Sprint(1+p.rnd.IntN(8)))+" persons"))
	stars := p.e("div", "class=stars").with("data-score", p.is("score", score))
	cook := p.e("p", "class=by", "A recipe by ", p.e("a", "class=cook href=/c/1", p.is("cook", p.person())), " of ",
		p.day().words())
	parts := []any{p.e("h1", "class=title", title), cook, times, stars, p.e("h2", "", "Ingredients"), ingredients, tip,
		p.e("h2", "", "Preparation"), steps}
	if s.Is("times last") {
		parts = append(parts[:2:2], append(parts[3:], times)...)
	}
	p.document(fmt.Sprintf("/recipes/%d", p.n), title, nil, p.e("article", "class=recipe", parts...))
}

// event has its facts in a table without classes, in an order of the page, and others' dates beside it.
func event(_ *Site, p *page) {
	title, from := p.words(2, 5), p.day()
	p.is("title", title)
	p.is("date", from.iso())
	rows := []any{p.e("tr", "", p.e("th", "", "Place"), p.e("td", "", p.is("place", p.some(cities)))),
		p.e("tr", "", p.e("th", "", "Doors"), p.e("td", "", fmt.Sprintf("%d:00", 17+p.rnd.IntN(4)))),
		p.e("tr", "", p.e("th", "", "Tickets"), p.e("td", "", "from "+p.is("tickets", p.money())+" €"))}
	if p.chance(60) {
		rows = append(rows, p.e("tr", "", p.e("th", "", "Age"),
			p.e("td", "", p.is("age", fmt.Sprint(12+p.rnd.IntN(10)))+"+")))
	}
	acts := p.e("div", "class=acts")
	for i := range 1 + p.rnd.IntN(4) {
		acts.kids = append(acts.kids, p.e("div", "class=act",
			p.e("div", "class=name", p.is("acts", p.person()+fmt.Sprint(i))), p.e("div", "class=genre", p.some(topics))))
	}
	when := p.e("div", "class=when", p.e("time", "", from.words()).with("datetime", from.iso()+"T20:00"))
	side := p.e("aside", "", p.e("h2", "", "Soon"),
		p.e("div", "class=event", p.e("h3", "class=title", p.words(2, 4)), p.e("time", "datetime=2026-01-01", "soon")))
	p.document(fmt.Sprintf("/events/%d", p.n), title, []any{p.meta("property", "og:title", title)},
		p.e("h1", "class=title", title), when, p.e("table", "class=facts", p.e("tbody", "", p.shuffled(rows...)...)),
		p.wrapped("acts", acts), side)
}

// profile is a person in spans, with a label in the same element or in the one before.
func profile(s *Site, p *page) {
	who := p.person() + " " + p.some(lastNames)
	p.is("person", who)
	line := func(field, label, value string) any {
		if field != "" {
			p.is(field, value)
		}
		if s.Is("two spans") {
			return p.e("div", "class=line", p.e("span", "class=what", label), p.e("span", "class=val", value))
		}
		return p.e("div", "class=line", label+": "+value)
	}
	lines := []any{line("email", "Mail", strings.ToLower(p.some(nouns))+"@uni.test"),
		line("room", "Room", fmt.Sprintf("B-%d", p.rnd.IntN(400))), line("", "Fax", fmt.Sprint(p.rnd.IntN(9999)))}
	if p.chance(70) {
		lines = append(lines, line("phone", "Phone", fmt.Sprintf("+49 %d", 10000+p.rnd.IntN(89999))))
	}
	papers := p.e("ul", "class=papers")
	for range 1 + p.rnd.IntN(5) {
		papers.kids = append(papers.kids, p.e("li", "class=paper", p.e("a", "href=/doi/1", p.is("papers", p.words(4, 8))),
			fmt.Sprintf(" (%d)", 2000+p.rnd.IntN(25))))
	}
	p.document("/people/"+strings.ToLower(strings.ReplaceAll(who, " ", "-")), who, nil,
		p.e("h1", "", p.e("span", "class=degree", p.some([]string{"Dr.", "Prof."})), " ", p.e("span", "class=name", who)),
		p.e("div", "class=contact", p.shuffled(lines...)...), p.e("h2", "", "Papers"), papers, p.e("h2", "", "Talks"),
		p.e("ul", "class=papers", p.e("li", "class=paper", p.e("a", "href=/t/1", p.words(3, 5)))))
}

// release is a package with counts that have signs, and versions as a table.
func release(_ *Site, p *page) {
	name := p.some(nouns) + "-" + p.some(nouns)
	p.is("package", name)
	v := fmt.Sprintf("v%d.%d.%d", p.rnd.IntN(9), p.rnd.IntN(20), p.rnd.IntN(20))
	stars := p.e("a", "class=count href=/s", p.e("span", "class=icon", "★"), " ",
		p.is("stars", fmt.Sprintf("%d,%03d", 1+p.rnd.IntN(90), p.rnd.IntN(999))), " stars")
	head := p.e("h1", "class=pkg", name+" ", p.e("small", "class=version", p.is("version", v)))
	t := p.e("table", "class=versions",
		p.e("tr", "", p.e("th", "", "Version"), p.e("th", "", "Date"), p.e("th", "", "Size")))
	for i := range 2 + p.rnd.IntN(6) {
		t.kids = append(t.kids, p.e("tr", "", p.e("td", "", p.is("versions", fmt.Sprintf("%d.%d", i, p.rnd.IntN(20)))),
			p.e("td", "", p.is("dates", p.day().iso())), p.e("td", "", fmt.Sprint(p.rnd.IntN(900), " kB"))))
	}
	license := p.some([]string{"MIT", "Apache-2.0", "BSD-3-Clause"})
	dl := p.e("dl", "class=about",
		p.shuffled([]any{p.e("dt", "", "License"), p.e("dd", "", p.is("license", license))},
			[]any{p.e("dt", "", "Language"), p.e("dd", "", "Go")},
			[]any{p.e("dt", "", "Owner"), p.e("dd", "", p.e("a", "href=/u/1", p.is("owner", p.person())))})...)
	p.document("/pkg/"+name, name, nil, head, stars, p.shuffled(dl, p.wrapped("versions", t)))
}

// hotel has scores of many things beside each other, in div alone.
func hotel(_ *Site, p *page) {
	name := p.words(1, 3) + " Hotel"
	p.is("name", name)
	box := p.e("div", "class=scores")
	for _, what := range []string{"Comfort", "Staff", "Breakfast"} {
		box.kids = append(box.kids, p.e("div", "class=score", p.e("div", "class=label", what),
			p.e("div", "class=bar", p.e("div", "class=num",
				p.is(strings.ToLower(what), fmt.Sprintf("%d.%d", 4+p.rnd.IntN(6), p.rnd.IntN(10)))))))
	}
	box.kids = p.shuffled(box.kids...)
	night := p.e("div", "class=offer", p.e("div", "class=from", "from"),
		p.e("div", "class=cost", p.is("night", fmt.Sprint(30+p.rnd.IntN(300))), p.e("span", "", " € a night")))
	var award any
	if p.chance(40) {
		award = p.e("div", "class=award", "Award of "+fmt.Sprint(2000+p.rnd.IntN(25)))
	}
	perks := p.e("div", "class=perks")
	for _, f := range p.sample([]string{"Pool", "Free WiFi", "Parking & charging", "Bar", "Lift", "Sauna"}, 1, 5) {
		perks.kids = append(perks.kids, p.e("div", "class=perk", p.is("perks", f)))
	}
	p.document(fmt.Sprintf("/hotels/%d", p.n), name, nil,
		p.e("div", "class=hero", award, p.e("div", "class=name", name),
			p.e("div", "class=address", p.is("address", p.some(lastNames)+"straat "+fmt.Sprint(p.rnd.IntN(99))))), night, box,
		p.wrapped("perks", perks))
}

// lyrics have lists of links, and facts in one line.
func lyrics(_ *Site, p *page) {
	song, who, year := p.words(1, 4), p.person(), fmt.Sprint(1950+p.rnd.IntN(75))
	p.is("song", song)
	p.is("artist", who)
	p.is("year", year)
	p.is("album", p.words(1, 3))
	line := p.e("p", "class=info", p.e("a", "href=/artist/1", who), ", from “", p.e("em", "", p.out.Fields["album"][0]),
		"” ("+year+")")
	more := p.e("ul", "class=songs")
	for range 2 + p.rnd.IntN(5) {
		href := "/songs/" + fmt.Sprint(p.rnd.IntN(99999))
		more.kids = append(more.kids, p.e("li", "", p.e("a", "", p.words(1, 4)).with("href", href)))
		p.is("links", href)
	}
	p.document(fmt.Sprintf("/songs/%d", p.n), song, []any{p.meta("name", "author", who)}, p.e("h1", "", song), line,
		p.e("pre", "", p.words(10, 30)), p.e("h2", "", "More of "+who), more)
}
