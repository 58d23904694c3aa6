package textpages

import "fmt"

func (g *gen) portal() {
	title := g.title()
	g.doc(title, func() {
		g.navigation()
		g.in("div", "wrap", func() {
			g.in("div", "=col-a", func() {
				for range g.n(2, 4) {
					g.teasers("box", g.say("most"), g.n(4, 9))
				}
			})
			g.in("div", "=col-b", func() {
				g.headline(title)
				g.story(g.n(4, 10), extras{ads: true, also: true})
				g.tags()
				g.teasers("list", "", g.n(6, 14))
			})
			g.in("div", "=col-c", func() {
				for range g.n(3, 6) {
					g.teasers("box", g.say("most"), g.n(4, 9))
				}
			})
		})
		g.footer()
	})
}

func (g *gen) paywall() {
	title := g.title()
	g.around(title, func() {
		g.headline(title)
		g.in("div", "body", func() { g.story(g.n(2, 3), extras{}) })
		g.in(pick(g, "div", "section"), pick(g, "=paywall", "=subscriber-only-offer", "=regwall"), func() {
			g.el("h3", "", g.say("more"))
			g.el("p", "", g.say("subscribe"))
			g.ul("", g.n(2, 4), func() { g.text(g.words(g.n(3, 8))) })
			g.raw("<button>OK</button>")
		})
		g.related()
		g.related()
	})
}

func (g *gen) amp() {
	title := g.title()
	g.doc(title, func() {
		g.raw(`<amp-sidebar id="sb" layout="nodisplay">`)
		g.ul("", g.n(5, 15), func() { g.link(g.words(g.n(1, 2))) })
		g.raw("</amp-sidebar>")
		g.in("header", "=ampstart-headerbar", func() { g.link(g.name()) })
		g.in("main", "", func() {
			g.in("article", "=amp-wp-article", func() {
				g.headline(title)
				g.in("div", "=amp-wp-article-content", func() { g.story(g.n(4, 14), all) })
				g.tags()
				g.raw("<amp-social-share type=email></amp-social-share>")
			})
			g.related()
		})
		g.footer()
		if g.chance(50) {
			g.raw("<amp-consent>")
			g.el("p", "", g.say("cookies"))
			g.raw("</amp-consent>")
		}
	})
}

func (g *gen) market() {
	title := upper(g.words(g.n(3, 9)))
	g.around(title, func() {
		g.crumbs()
		g.in("div", "product", func() {
			g.opt("h1", "", title)
			g.opt("span", "", fmt.Sprintf("%d,%02d €", g.n(5, 900), g.n(0, 99)))
			g.main(func() {
				g.ul("=bullets", g.n(3, 7), func() { g.text(g.words(g.n(4, 15))) })
				g.in("section", "desc", func() {
					for range g.n(1, 5) {
						g.para("p", g.n(1, 4))
					}
				})
				g.in("dl", "=attributes", func() {
					for range g.n(3, 9) {
						g.el("dt", "", g.words(g.n(1, 2)))
						g.el("dd", "", g.words(g.n(1, 4)))
					}
				})
			})
			g.teasers("related", g.say("related"), g.n(4, 8))
			g.in("div", "reviews", func() {
				for range g.n(2, 7) {
					g.in("div", "=opinion", func() {
						g.el("span", "", g.name())
						g.main(func() { g.para("p", g.n(1, 4)) })
						g.link(g.say("reply"))
					})
				}
			})
		})
		g.related()
	})
}

func (g *gen) soup() {
	g.scheme = bare
	title := g.title()
	g.doc(title, func() {
		g.in("div", "", func() {
			g.in("div", "", func() {
				for range g.n(5, 15) {
					g.in("div", "", func() { g.link(upper(g.words(g.n(1, 2)))) })
				}
			})
			g.in("div", "", func() {
				g.in("div", "", func() {
					g.opt("div", "", title)
					g.story(g.n(4, 15), extras{also: true})
				})
				g.in("div", "", func() {
					g.el("div", "", g.say("related"))
					style := g.n(0, 4)
					for range g.n(3, 9) {
						g.in("div", "", func() { g.teaser(style) })
					}
				})
			})
			g.in("div", "", func() { g.el("div", "", g.say("copyright")) })
		})
	})
}

func (g *gen) regional() {
	title := g.title()
	g.around(title, func() {
		g.in("article", "article", func() {
			g.headline(title)
			g.opt("p", "lead", g.sentences(2))
			g.in("div", "body", func() {
				g.story(g.n(5, 14), all)
				g.newsletter()
				g.bio()
			})
			g.in("div", "related", func() {
				g.el("strong", "", g.say("related"))
				g.ul("", g.n(2, 5), func() { g.teaser(0) })
			})
		})
		g.comments(g.n(0, 20), 3)
		g.teasers("list", g.say("most"), g.n(5, 12))
	})
}

func (g *gen) help() {
	title := g.title() + "?"
	g.around(title, func() {
		g.crumbs()
		g.in(pick(g, "section", "div"), "article", func() {
			g.opt("h1", "", title)
			g.in("div", "body", func() {
				g.main(func() {
					g.para("p", 2)
					g.in("ol", "", func() {
						for range g.n(3, 8) {
							g.in("li", "", func() { g.inline(g.sentence()) })
						}
					})
					for range g.n(1, 4) {
						g.para("p", g.n(1, 3))
					}
				})
			})
			g.in("div", "=article-votes", func() {
				g.el("span", "",
					g.words(4)+"?")
				g.raw("<button>1</button><button>0</button>")
			})
		})
		g.related()
	})
}
