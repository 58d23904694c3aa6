package templates

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// page is a page while it is made.
type page struct {
	site *Site
	rnd  *rand.Rand
	n    int
	out  Page
}

// is notes a value of a field, and returns it.
func (p *page) is(field, value string) string {
	p.out.Fields[field] = append(p.out.Fields[field], value)
	return value
}

// some is one of several texts.
func (p *page) some(of []string) string { return of[p.rnd.IntN(len(of))] }

// sample are some of several texts, no two alike.
func (p *page) sample(of []string, least, most int) []string {
	all := slices.Clone(of)
	p.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:least+p.rnd.IntN(most-least+1)]
}

// chance is true in so many of a hundred cases.
func (p *page) chance(percent int) bool { return p.rnd.IntN(100) < percent }

// shuffled are elements in any order.
func (p *page) shuffled(kids ...any) []any {
	p.rnd.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
	return kids
}

// ads are advertisements, or none: between any two blocks.
func (p *page) ad() any {
	if !p.chance(35) {
		return nil
	}
	return p.e("div", "class=promo", p.e("p", "", "Sponsored"),
		p.e("a", "href=/ads/"+fmt.Sprint(p.rnd.IntN(9999)), p.some(adTexts)),
		p.e("span", "class=amount", fmt.Sprintf("%d €", 10+p.rnd.IntN(90))))
}

// wrapped puts a block into as many elements as the site has around it.
func (p *page) wrapped(what string, kid any) any {
	for i := range p.site.Pick("wraps "+what, 3) {
		kid = p.e("div", fmt.Sprintf("class=wrap%d", i), kid)
	}
	return kid
}

// document finishes a page: its address, head, navigation, blocks and footer.
func (p *page) document(path, title string, meta []any, main ...any) {
	s := p.site
	p.out.URL = fmt.Sprintf("https://%s%d.test%s", s.Family.Name, s.Number, path)
	head := []any{p.e("meta", "charset=utf-8"), p.e("title", "", title+" | "+strings.ToUpper(s.Family.Name)), meta,
		p.e("script", "", "window.__state={\"price\":12,\"title\":\"x\"};")}
	nav := p.e("ul", "class=menu")
	for _, t := range []string{"Home", "Offers", "About us", "Contact"} {
		nav.kids = append(nav.kids, p.e("li", "class=entry", p.e("a", "class=link href=/"+strings.ToLower(t[:4]), t)))
	}
	var blocks []any
	for _, m := range main {
		blocks = append(blocks, p.ad(), m)
	}
	content := p.e([]string{"main", "div", "section"}[s.Pick("main", 3)], "class=content", blocks...)
	if s.naming <= blockNames && s.Is("main id") {
		content.with("id", "content")
	}
	body := p.e("body", "", p.e("header", "class=top", p.e("nav", "", nav)), p.wrapped("content", content), p.ad(),
		p.e("footer", "class=bottom", p.e("p", "", "© 2026 "+s.Family.Name), p.e("a", "href=/imprint", "Imprint")))
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n")
	render(&b, p.rnd, p.e("html", "lang=en", p.e("head", "", head...), body), 0)
	p.out.HTML = []byte(b.String())
}

// meta is a meta element.
func (p *page) meta(key, name, content string) *element {
	return p.e("meta", key+"="+name).with("content", content)
}

// day is a date in several forms.
type day struct{ y, m, d int }

func (p *page) day() day { return day{2018 + p.rnd.IntN(8), 1 + p.rnd.IntN(12), 1 + p.rnd.IntN(28)} }

func (d day) iso() string { return fmt.Sprintf("%04d-%02d-%02d", d.y, d.m, d.d) }

var months = strings.Fields("January February March April May June July August September October November December")

func (d day) words() string { return fmt.Sprintf("%s %d, %d", months[d.m-1], d.d, d.y) }

// money is an amount with cents.
func (p *page) money() string { return fmt.Sprintf("%d.%02d", 3+p.rnd.IntN(900), p.rnd.IntN(100)) }

// name is a name of a thing or a sentence of some words.
func (p *page) words(least, most int) string {
	n := least + p.rnd.IntN(most-least+1)
	w := make([]string, n)
	for i := range w {
		w[i] = p.some(nouns)
	}
	w[0] = strings.ToUpper(w[0][:1]) + w[0][1:]
	return strings.Join(w, " ")
}

func (p *page) person() string { return p.some(firstNames) + " " + p.some(lastNames) }
