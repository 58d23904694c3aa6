package textpages

import "fmt"

func testing() []Family {
	return []Family{
		{Name: "utility classes", Test: true, write: (*gen).utilities},
		{Name: "board", Test: true, write: (*gen).board},
		{Name: "docs site", Test: true, write: (*gen).docsSite},
		{Name: "javadoc", Test: true, write: (*gen).javadoc},
		{Name: "live blog", Test: true, write: (*gen).live},
		{Name: "event", Test: true, write: (*gen).event},
		{Name: "government", Test: true, write: (*gen).government},
		{Name: "portal", Test: true, write: (*gen).portal},
		{Name: "paywall", Test: true, write: (*gen).paywall},
		{Name: "amp", Test: true, write: (*gen).amp},
		{Name: "market", Test: true, write: (*gen).market},
		{Name: "div soup", Test: true, write: (*gen).soup},
		{Name: "regional paper", Test: true, write: (*gen).regional},
		{Name: "help desk", Test: true, write: (*gen).help},
	}
}

func (g *gen) utilities() {
	g.scheme = tailwind
	title := g.title()
	g.around(title, func() {
		g.headline(title)
		g.share()
		g.in("div", "body", func() { g.story(g.n(5, 16), all) })
		g.tags()
		g.related()
	})
}

func (g *gen) board() {
	title := g.title()
	g.around(title, func() {
		g.opt("h1", "", title)
		for range g.n(4, 20) {
			g.in(pick(g, "div", "article"), "post", func() {
				g.in("div", "user", func() { g.link(g.name()); g.el("span", "", g.date()) })
				g.in("div", "=cooked", func() {
					if g.chance(20) {
						g.main(func() { g.el("blockquote", "", g.sentence()) })
					}
					g.main(func() { g.para("p", g.n(1, 4)) })
				})
				g.in("div", "=actions", func() { g.raw("<button>+1</button>"); g.link(g.say("reply")) })
			})
		}
		g.teasers("related", g.say("related"), g.n(4, 7))
	})
}

func (g *gen) docsSite() {
	g.lang = english2
	g.scheme = pick(g, plain, modules)
	title := g.title()
	g.doc(title, func() {
		g.in("nav", "=navbar navbar--fixed-top", func() { g.ul("", 6, func() { g.link(g.word()) }) })
		g.in("div", "=main-wrapper", func() {
			g.in("aside", "=theme-doc-sidebar-container",
				func() { g.ul("=menu__list", g.n(8, 40), func() { g.link(g.words(g.n(1, 3))) }) })
			g.in("main", "=docMainContainer", func() {
				g.in("article", "", func() {
					g.crumbs()
					g.in("div", "=theme-doc-markdown markdown", func() {
						g.opt("h1", "", title)
						g.main(func() { g.docsBody() })
					})
				})
				g.in("nav", "=pagination-nav", func() { g.link(g.words(3)); g.link(g.words(3)) })
				g.in("div", "=table-of-contents", func() { g.ul("", g.n(3, 9), func() { g.link(g.words(3)) }) })
			})
		})
		g.footer()
	})
}

func (g *gen) docsBody() {
	for range g.n(3, 12) {
		g.el(pick(g, "h2", "h3"), "", upper(g.words(g.n(1, 5))))
		g.para("p", g.n(1, 3))
		switch g.n(0, 5) {
		case 0:
			g.in("div", "=theme-admonition alert alert--info", func() { g.para("p", 1) })
		case 1:
			g.raw("<pre><code>")
			g.text(g.words(g.n(5, 40)))
			g.raw("</code></pre>")
		case 2:
			g.ul("", g.n(2, 7), func() { g.link(g.words(g.n(1, 3))); g.text(" " + g.words(g.n(3, 12))) })
		case 3:
			g.in("table", "", func() {
				for range g.n(2, 8) {
					g.in("tr", "", func() { g.el("td", "", g.word()); g.el("td", "", g.words(g.n(2, 9))) })
				}
			})
		}
	}
}

func (g *gen) javadoc() {
	g.lang, g.scheme = english2, plain
	title := "Class " + upper(g.word())
	g.doc(title, func() {
		g.in("div", "=topNav", func() { g.ul("=navList", 8, func() { g.link(upper(g.word())) }) })
		g.in("div", "=header", func() { g.opt("h2", "=title", title) })
		g.in("div", "=contentContainer", func() {
			g.main(func() {
				g.in("div", "=description", func() { g.para("div", g.n(2, 6)) })
				g.in("div", "=summary", func() {
					g.in("table", "=memberSummary", func() {
						for range g.n(3, 15) {
							g.in("tr", "", func() {
								g.in("td", "=colFirst", func() { g.link(g.word()) })
								g.in("td", "=colLast", func() {
									g.link(g.word())
									g.text("(int " + g.word() + ")")
									g.el("div", "=block",
										g.sentence())
								})
							})
						}
					})
				})
				g.in("div", "=details", func() {
					for range g.n(2, 8) {
						g.el("h4", "", g.word())
						g.el("pre", "", "public void "+g.word()+"()")
						g.el("div", "=block", g.sentences(g.n(1, 3)))
					}
				})
			})
		})
		g.in("div", "=bottomNav", func() { g.ul("=navList", 8, func() { g.link(upper(g.word())) }) })
		g.el("p", "=legalCopy", g.say("copyright"))
	})
}

func (g *gen) live() {
	title := g.title()
	g.around(title, func() {
		g.headline(title)
		g.main(func() { g.para("p", 2) })
		g.share()
		for range g.n(4, 15) {
			g.in(pick(g, "div", "article"), "=live-entry", func() {
				g.opt("time", "", fmt.Sprintf("%02d:%02d", g.n(0, 23), g.n(0, 59)))
				g.main(func() {
					if g.chance(50) {
						g.el("h3", "", upper(g.words(g.n(3, 7))))
					}
					for range g.n(1, 3) {
						g.para("p", g.n(1, 4))
					}
				})
			})
		}
		g.related()
	})
}

func (g *gen) event() {
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.opt("h1", "", title)
		g.main(func() {
			g.in("dl", "=facts", func() {
				for range g.n(2, 5) {
					g.el("dt", "", upper(g.word()))
					g.el("dd", "", g.words(g.n(2, 6)))
				}
			})
			for range g.n(2, 5) {
				g.para("p", g.n(1, 4))
			}
		})
		g.share()
		g.teasers("list", g.say("related"), g.n(3, 6))
	})
}

func (g *gen) government() {
	title := g.title()
	g.doc(title, func() {
		g.in(`a href="#c"`, "=visually-hidden skip-to-main", func() { g.text("Skip") })
		g.cookies()
		g.navigation()
		g.crumbs()
		g.in(pick(g, "main", `div id="c"`), "column", func() {
			g.opt("h1", "", title)
			g.in("nav", "=contents-list", func() { g.ul("", g.n(3, 8), func() { g.link(g.words(g.n(2, 5))) }) })
			g.main(func() {
				for range g.n(3, 9) {
					g.el("h2", "", upper(g.words(g.n(2, 6))))
					for range g.n(1, 3) {
						g.para("p", g.n(1, 3))
					}
					if g.chance(40) {
						g.ul("", g.n(3, 7), func() { g.text(g.words(g.n(3, 12))) })
					}
					if g.chance(20) {
						g.in("div", "=warning-text", func() { g.para("p", 1) })
					}
				}
			})
			g.in("div", "=feedback", func() { g.el("h2", "", g.words(4)+"?"); g.raw("<button>1</button>") })
			g.related()
		})
		g.footer()
	})
}
