package textpages

// builder is a page made with a page builder, where everything is called a widget, and paragraphs are in boxes of
// their own.
func (g *gen) builder() {
	g.scheme = plain
	title := g.title()
	g.doc(title, func() {
		g.navigation()
		g.in("div", "=elementor elementor-42", func() {
			g.in("section", "=elementor-section elementor-top-section", func() {
				g.in("div", "=elementor-widget elementor-widget-heading", func() { g.opt("h1", "=elementor-heading-title", title) })
				for range g.n(3, 9) {
					g.in("div", "=elementor-widget elementor-widget-text-editor", func() {
						g.in("div", "=elementor-widget-container", func() { g.story(g.n(1, 3), extras{figures: true}) })
					})
				}
			})
			g.in("section", "=elementor-section elementor-inner-section", func() {
				g.in("div", "=elementor-widget elementor-widget-posts",
					func() { g.teasers("=elementor-posts", g.say("related"), g.n(3, 6)) })
			})
		})
		g.in("div", "=elementor-location-footer", func() { g.el("p", "", g.say("copyright")) })
		g.cookies()
	})
}

// category is a page whose text are the teasers of other pages, with a short introduction or none.
func (g *gen) category() {
	title := upper(g.words(g.n(1, 3)))
	g.around(title, func() {
		g.crumbs()
		g.opt("h1", "headline", title)
		g.main(func() {
			if g.chance(60) {
				g.para("p", g.n(1, 3))
			}
			g.teasersIn(pick(g, "div", "section"), "list", "", g.n(12, 30))
		})
		g.pager()
	})
}

// gallery is a short text with a video or pictures, on a page with much else.
func (g *gen) gallery() {
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.headline(title)
		g.raw(`<meta property="og:type" content="article">`)
		g.in("div", "body", func() {
			g.main(func() {
				g.para("p", g.n(2, 4))
				g.para("p", g.n(2, 4))
			})
		})
		g.tags()
		g.related()
		g.teasers("box", g.say("most"), g.n(5, 12))
	})
}
