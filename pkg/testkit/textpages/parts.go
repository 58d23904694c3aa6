package textpages

import (
	"fmt"
	"strings"
)

// doc writes a document around what f writes into its body.
func (g *gen) doc(title string, f func()) {
	g.raw(pick(g, "<!DOCTYPE html>\n", "<!doctype html>", "") + `<html lang="` + g.lang.code +
		`"><head><meta charset="utf-8"><title>`)
	g.raw(title + pick(g, " | ", " - ", " — ") + g.name() + "</title>")
	if g.chance(60) {
		g.raw(`<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/s.css"><script>var a = "<p>no text</p>";</script>`)
	}
	g.raw("</head><body" + pick(g, "", ` class="single has-sidebar no-js"`, ` id="top"`) + ">")
	f()
	g.raw("</body></html>")
}

func (g *gen) ul(role string, n int, item func()) {
	g.in("ul", role, func() {
		for range n {
			g.in("li", "", item)
		}
	})
}

// navigation writes the head of a page: logo, menus, sometimes a menu of menus.
func (g *gen) navigation() {
	tag := pick(g, "header", "div", "div")
	if g.scheme == bare {
		tag = pick(g, "div", "header")
	}
	g.in(tag, "header", func() {
		g.link(g.name())
		if g.chance(30) {
			g.el("p", "", upper(g.words(g.n(3, 7))))
		}
		for range g.n(1, 3) {
			g.in(pick(g, "nav", "div", "div"), "nav",
				func() { g.ul("", g.n(4, 14), func() { g.link(upper(g.words(g.n(1, 2)))) }) })
		}
		if g.chance(40) {
			g.raw(`<form action="/search"><input name="q"><button>` + g.say("more") + `</button></form>`)
		}
	})
}

func (g *gen) cookies() {
	if g.chance(50) {
		g.in("div", "cookies", func() {
			g.el("p", "", g.say("cookies"))
			g.raw("<button>OK</button>")
		})
	}
}

func (g *gen) crumbs() {
	if !g.chance(60) {
		return
	}
	sep := pick(g, " &gt; ", " / ", " » ", " ")
	g.in(pick(g, "div", "nav", "p", "ol"), "crumbs", func() {
		for range g.n(2, 4) {
			g.link(upper(g.words(1)))
			g.raw(sep)
		}
		g.text(upper(g.words(2)))
	})
}

func (g *gen) footer() {
	g.in(pick(g, "footer", "div", "div"), "footer", func() {
		for range g.n(0, 4) {
			g.in("div", "box", func() {
				g.el(pick(g, "h3", "h4", "strong"), "", upper(g.words(g.n(1, 3))))
				g.ul("", g.n(3, 8), func() { g.link(upper(g.words(g.n(1, 3)))) })
			})
		}
		if g.chance(40) {
			g.el("p", "", g.sentences(g.n(1, 3)))
		}
		g.el("p", "", g.say("copyright"))
	})
}

// teaser writes one hint at another article, in one of the ways sites do.
func (g *gen) teaser(style int) {
	t := upper(g.words(g.n(4, 10)))
	switch style {
	case 0:
		g.link(t)
	case 1:
		g.in("h3", "", func() { g.link(t) })
		g.el("p", "", g.words(g.n(8, 28))+"…")
	case 2: // the whole card is a link
		g.in(`a href="/`+g.word()+`"`, "", func() { g.el("h4", "", t); g.el("p", "", g.words(g.n(6, 20))+".") })
	case 3:
		g.el("span", "", g.date())
		g.link(t)
		g.el("span", "", fmt.Sprint(g.n(1, 90), " min"))
	default:
		g.in("h2", "", func() { g.link(t) })
		g.el("p", "", g.sentences(g.n(1, 2)))
		g.link(g.say("more"))
	}
}

func (g *gen) teasers(role, heading string, n int) {
	g.teasersIn(pick(g, "div", "div", "section", "aside"), role, heading, n)
}

func (g *gen) teasersIn(tag, role, heading string, n int) {
	style := g.n(0, 4)
	g.in(tag, role, func() {
		if heading != "" {
			g.el(pick(g, "h2", "h3", "h4", "div", "strong"), "", heading)
		}
		if g.chance(50) {
			g.ul("list", n, func() { g.teaser(style) })
			return
		}
		for range n {
			g.in(pick(g, "div", "article"), "teaser", func() { g.teaser(style) })
		}
	})
}

func (g *gen) related() { g.teasers("related", g.say("related"), g.n(3, 8)) }

func (g *gen) sidebar() {
	g.in(pick(g, "aside", "div", "div"), "sidebar", func() {
		for range g.n(1, 4) {
			switch g.n(0, 4) {
			case 0:
				g.newsletter()
			case 1:
				g.in("div", "box", func() {
					g.el("h3", "", g.say("about"))
					g.el("p", "", g.sentences(g.n(1, 3)))
				})
			default:
				g.teasers("box", g.say("most"), g.n(3, 9))
			}
		}
	})
}

func (g *gen) newsletter() {
	g.in(pick(g, "div", "section", "form"), "news", func() {
		if g.chance(50) {
			g.el(pick(g, "h3", "strong"), "", "Newsletter")
		}
		g.el("p", "", g.say("subscribe"))
		g.raw(`<input type="email"><button>OK</button>`)
	})
}

func (g *gen) share() {
	if !g.chance(70) {
		return
	}
	g.in(pick(g, "div", "ul", "div"), "share", func() {
		g.el("span", "", g.say("share"))
		for _, s := range []string{"Facebook", "X", "LinkedIn", "WhatsApp"}[:g.n(1, 4)] {
			g.link(s)
		}
	})
}

func (g *gen) tags() {
	if !g.chance(60) {
		return
	}
	g.in(pick(g, "div", "p", "footer"), "tags", func() {
		g.text(g.say("tags"))
		for range g.n(2, 6) {
			g.raw(" ")
			g.link(g.words(g.n(1, 2)))
		}
	})
}

func (g *gen) bio() {
	if !g.chance(40) {
		return
	}
	g.in("div", "bio", func() {
		g.el(pick(g, "h4", "h3", "strong"), "", g.say("about")+" "+g.name())
		g.el("p", "", g.sentences(g.n(1, 2)))
	})
}

// headline writes what stands over an article. None of it is wrong in the main text, and none is missed.
func (g *gen) headline(title string) {
	g.opt(pick(g, "h1", "h1", "h1", "h2"), "headline", title)
	if g.chance(80) {
		g.opt(pick(g, "div", "p", "div"), "byline", g.say("by")+" "+g.name()+" "+pick(g, "| ", "• ", "")+g.date())
	}
}

func (g *gen) comments(n, sentences int) {
	g.in(pick(g, "div", "section", "div"), "comments", func() {
		g.el(pick(g, "h2", "h3"), "", g.say("comments"))
		for range n {
			g.in(pick(g, "div", "li", "article"), "comment", func() {
				g.in("div", "", func() { g.link(g.name()); g.raw(" "); g.el("span", "", g.date()) })
				for range g.n(1, 2) {
					g.el("p", "", g.sentences(g.n(1, sentences)))
				}
				g.link(g.say("reply"))
			})
		}
	})
}

func (g *gen) pager() {
	if g.chance(50) {
		g.in(pick(g, "div", "nav", "p"), "pager", func() { g.link("« " + g.title()); g.raw(" "); g.link(g.title() + " »") })
	}
}

func (g *gen) ad() {
	if g.chance(60) {
		g.in("div", "ad", func() { g.text(g.say("ad")) })
	}
}

// para writes a paragraph with what paragraphs have inside.
func (g *gen) para(tag string, sentences int) {
	g.in(tag, "", func() {
		for i := range sentences {
			if i > 0 {
				g.raw(" ")
			}
			g.inline(g.sentence())
		}
	})
}

func (g *gen) inline(s string) {
	words := strings.Fields(s)
	at := g.n(0, len(words)-1)
	if !g.chance(30) {
		g.text(s)
		return
	}
	if at > 0 {
		g.text(strings.Join(words[:at], " "))
		g.raw(" ")
	}
	to := min(len(words), at+g.n(1, 4))
	g.in(pick(g, `a href="/x"`, "em", "b", "i", "a href=http://b.example/y"), "",
		func() { g.text(strings.Join(words[at:to], " ")) })
	if to < len(words) {
		g.raw(" ")
		g.text(strings.Join(words[to:], " "))
	}
}

// extras are what sites put between the paragraphs of an article.
type extras struct{ ads, also, boxes, newsletter, figures bool }

// story writes paragraphs, headings, lists, quotes and tables that are main text, and the extras between them.
func (g *gen) story(paras int, x extras) {
	p := "p"
	if g.scheme == bare && g.chance(30) {
		p = "div"
	}
	g.main(func() {
		for i := range paras {
			if i > 1 && g.chance(20) {
				g.el(pick(g, "h2", "h3"), "", upper(g.words(g.n(2, 6))))
			}
			g.para(p, g.n(1, 5))
			if i > 0 {
				g.storyPart()
				g.aside(func() { g.between(x, p) })
			}
		}
	})
}

func (g *gen) storyPart() {
	switch g.n(0, 16) {
	case 0:
		g.ul("", g.n(2, 6), func() { g.text(g.words(g.n(2, 14))) })
	case 1:
		g.el("blockquote", "", g.sentence())
	case 2:
		g.in("table", "", func() {
			for range g.n(2, 5) {
				g.in("tr", "", func() { g.el("td", "", g.words(g.n(1, 3))); g.el("td", "", fmt.Sprint(g.n(1, 999))) })
			}
		})
	}
}

func (g *gen) between(x extras, p string) {
	switch k := g.n(0, 24); {
	case k == 0 && x.ads:
		g.ad()
	case k == 1 && x.also:
		g.in(p, "", func() { g.text(g.say("also")); g.raw(" "); g.link(g.title()) })
	case k == 2 && x.boxes:
		g.teasers("related", g.say("related"), g.n(2, 4))
	case k == 3 && x.newsletter:
		g.newsletter()
	case k == 4 && x.figures:
		g.in("figure", "", func() {
			g.raw(`<img src="i.jpg">`)
			g.opt("figcaption", "caption", g.words(g.n(4, 15)))
		})
	}
}

var all = extras{true, true, true, true, true}
