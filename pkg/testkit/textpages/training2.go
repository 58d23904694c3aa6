package textpages

import "fmt"

func (g *gen) sphinx() {
	g.scheme, g.lang = plain, english
	title := g.title()
	g.doc(title, func() {
		g.in(`div role="navigation"`, "=related", func() { g.ul("", 4, func() { g.link(g.word()) }) })
		g.in("div", "=document", func() {
			g.in("div", "=documentwrapper", func() {
				g.in(`div role="main"`, "=body", func() {
					g.main(func() { g.sphinxBody(title) })
				})
			})
			g.in(`div role="navigation"`, "=sphinxsidebar", func() {
				g.ul("", g.n(4, 20), func() { g.link(g.words(g.n(1, 4))) })
			})
		})
		g.el(`div role="contentinfo"`, "=footer", g.say("copyright"))
	})
}

func (g *gen) sphinxBody(title string) {
	g.in(`section id="related-ads"`, "", func() {
		g.opt("h1", "", title)
		g.para("p", g.n(1, 3))
		if g.chance(40) {
			g.in("div", "=toctree-wrapper compound", func() { g.ul("", g.n(4, 12), func() { g.link(g.words(g.n(1, 5))) }) })
		}
		for range g.n(2, 10) {
			g.in(`section id="`+g.word()+`-menu"`, "", func() {
				g.el("h2", "", g.words(g.n(1, 5)))
				g.para("p", g.n(1, 4))
				g.sphinxPart()
			})
		}
	})
}

func (g *gen) sphinxPart() {
	switch g.n(0, 4) {
	case 0:
		g.in("dl", "=py function", func() {
			g.el("dt", "", g.word()+"."+g.word()+"(x, y)")
			g.in("dd", "", func() { g.para("p", g.n(1, 2)) })
		})
	case 1:
		g.in("div", "=admonition note", func() { g.el("p", "=admonition-title", "Note"); g.para("p", 1) })
	case 2:
		g.el("pre", "", g.words(g.n(4, 20)))
	case 3:
		g.in("div", "=admonition seealso", func() {
			g.el("p", "=admonition-title", "See also")
			g.in("p", "", func() { g.link(g.words(2)); g.text(" " + g.sentence()) })
		})
	}
}

func (g *gen) rustdoc() {
	g.scheme, g.lang = plain, english
	title := g.title()
	g.doc(title, func() {
		g.in("nav", "=sidebar", func() { g.ul("=block", g.n(5, 30), func() { g.link(g.word()) }) })
		g.in("main", "", func() {
			g.in(`section id="main-content"`, "=content", func() {
				g.opt("h1", "", title)
				g.main(func() {
					g.in("details open", "=toggle top-doc", func() {
						for range g.n(1, 6) {
							g.para("p", g.n(1, 4))
						}
						g.el("pre", "=rust rust-example-rendered", g.words(g.n(5, 30)))
					})
					for range g.n(0, 3) {
						g.el("h2", "=section-header", upper(g.word()))
						g.in("dl", "=item-table", func() {
							for range g.n(2, 12) {
								g.in("dt", "", func() { g.link(upper(g.word())) })
								g.el("dd", "", g.words(g.n(2, 12)))
							}
						})
					}
				})
			})
		})
	})
}

func (g *gen) wiki() {
	g.scheme = plain
	title := g.title()
	g.doc(title, func() {
		g.in(`div id="content"`, "=mw-body", func() {
			g.opt("h1", "=firstHeading", title)
			g.in(`div id="bodyContent"`, "=mw-body-content", func() {
				g.opt("div", "=noprint", g.lang.code+" wiki")
				g.in("div", "=toc", func() { g.ul("", g.n(4, 9), func() { g.link(g.words(2)) }) })
				g.main(func() {
					for range g.n(2, 8) {
						g.el("h2", "", upper(g.words(g.n(1, 4))))
						for range g.n(1, 4) {
							g.para("p", g.n(2, 6))
							g.storyPart()
						}
					}
				})
				g.in("div", "=navbox", func() { g.ul("", g.n(8, 30), func() { g.link(g.words(2)) }) })
			})
			g.in("div", "=catlinks", func() { g.text("Categories: "); g.link(g.word()); g.link(g.word()) })
		})
		g.in(`div id="mw-navigation"`, "", func() {
			for range g.n(2, 5) {
				g.in("div", "=portal", func() { g.el("h3", "", g.word()); g.ul("", g.n(4, 9), func() { g.link(g.words(2)) }) })
			}
		})
		g.in(`div id="footer"`, "", func() { g.el("p", "", g.say("copyright")) })
	})
}

func (g *gen) shortLong() {
	title := g.title()
	g.around(title, func() {
		g.in(pick(g, "article", "div"), "article", func() {
			g.headline(title)
			g.in("div", "body", func() { g.story(g.n(1, 3), extras{}) })
			g.share()
			if g.chance(50) {
				g.comments(g.n(10, 40), 4)
			}
		})
		if g.chance(70) {
			g.comments(g.n(10, 30), 4)
		}
	})
}

func (g *gen) teasersAsContent() {
	title := g.title()
	g.scheme = plain
	g.doc(title, func() {
		g.navigation()
		before := g.chance(40)
		list := func() {
			g.in("div", pick(g, "=content", "=main-content", "=section content"),
				func() { g.teasers("=entries", "", g.n(10, 25)) })
		}
		if before {
			list()
		}
		g.in("div", pick(g, "=center", "=col2", "=text", "=article-detail"), func() {
			g.headline(title)
			g.story(g.n(3, 10), extras{also: true})
		})
		if !before {
			list()
		}
		g.footer()
	})
}

func (g *gen) tables2000() {
	g.scheme = bare
	title := g.title()
	g.doc(title, func() {
		g.raw(`<table width="100%" border=0 cellpadding=0><tr><td colspan=3><img src="logo.gif"> `)
		for range g.n(4, 8) {
			g.link(upper(g.word()))
			g.raw(" | ")
		}
		g.raw("</td></tr><tr><td width=150 valign=top bgcolor=#eeeeee>")
		for range g.n(6, 25) {
			g.link(upper(g.words(g.n(1, 2))))
			g.raw("<br>")
		}
		g.raw("</td><td valign=top>")
		g.opt(pick(g, "h1", "h2", "b"), "", title)
		br := g.chance(40)
		g.main(func() {
			for range g.n(4, 12) {
				if !br {
					g.para("p", g.n(1, 6))
					continue
				}
				g.text(g.sentences(g.n(1, 5)))
				g.raw("<br><br>\n")
			}
		})
		g.raw("</td><td width=120>")
		for range g.n(0, 6) {
			g.el("b", "", upper(g.words(2)))
			g.raw("<br>")
			g.text(g.words(g.n(3, 12)))
			g.link(g.say("more"))
			g.raw("<p>")
		}
		g.raw("</td></tr><tr><td colspan=3 align=center><font size=1>" + g.say("copyright") + "</font></td></tr></table>")
	})
}

func (g *gen) hashedClasses() {
	g.scheme = hashed
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.in(pick(g, "article", "div", "div"), "article", func() {
			g.headline(title)
			g.share()
			g.in("div", "body", func() { g.story(g.n(5, 18), all) })
			g.tags()
			g.bio()
		})
		g.related()
	})
}

func (g *gen) press() {
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.opt("h1", "headline", title)
		g.opt("p", "date", g.date())
		g.main(func() {
			g.para("p", g.n(2, 4))
			for range g.n(2, 7) {
				g.para("p", g.n(2, 6))
			}
			g.el(pick(g, "h3", "p"), "", g.lang.say["about"][0]+" "+g.name())
			g.para("p", g.n(2, 4))
			g.el("p", "", g.name()+", +49 "+fmt.Sprint(g.n(100000, 9999999)))
		})
		g.share()
		if g.chance(60) {
			g.related()
		}
	})
}

func (g *gen) recipe() {
	title := g.title()
	g.around(title, func() {
		g.headline(title)
		g.share()
		g.story(g.n(1, 6), extras{ads: true, newsletter: true, figures: true})
		g.in("div", "=recipe-card", func() {
			g.main(func() {
				g.el("h3", "", upper(g.words(1)))
				g.ul("=ingredients", g.n(4, 12), func() { g.text(fmt.Sprint(g.n(1, 500)) + " g " + g.words(g.n(1, 4))) })
				g.in("ol", "=instructions", func() {
					for range g.n(3, 8) {
						g.el("li", "", g.sentences(g.n(1, 3)))
					}
				})
			})
		})
		g.related()
		g.comments(g.n(2, 15), 2)
	})
}

func (g *gen) oldBlog() {
	g.scheme = plain
	title := g.title()
	g.doc(title, func() {
		g.in(`div id="outer-wrapper"`, "", func() {
			g.in(`div id="header-wrapper"`, "", func() { g.link(g.name()); g.el("p", "", g.words(8)) })
			g.in(`div id="main-wrapper"`, "", func() {
				g.opt("h2", "=date-header", g.date())
				g.in("div", "=post hentry uncustomized-post-template", func() {
					g.in("h3", "=post-title", func() { g.optional = append(g.optional, title); g.link(title) })
					g.in("div", "=post-body entry-content", func() {
						g.main(func() {
							for range g.n(3, 10) {
								g.text(g.sentences(g.n(1, 5)))
								g.raw("<br /><br />\n")
							}
						})
					})
					g.in("div", "=post-footer", func() { g.text("Posted by " + g.name() + " at "); g.link("10:13") })
				})
				g.in("div", "=comments", func() { g.comments(g.n(0, 6), 3) })
				g.in("div", "=blog-pager", func() { g.link("Newer Post"); g.link("Older Post") })
			})
			g.in(`div id="sidebar-wrapper"`, "", func() { g.sidebar() })
		})
	})
}
