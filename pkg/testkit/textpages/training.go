package textpages

import (
	"fmt"
	"strings"
)

// Families are all families of pages.
func Families() []Family {
	return append(training(), testing()...)
}

func training() []Family {
	return []Family{
		{Name: "news", write: (*gen).news},
		{Name: "blog", write: (*gen).blog},
		{Name: "magazine", write: (*gen).magazine},
		{Name: "forum", write: (*gen).forum},
		{Name: "questions", write: (*gen).questions},
		{Name: "shop", write: (*gen).shop},
		{Name: "sphinx", write: (*gen).sphinx},
		{Name: "rustdoc", write: (*gen).rustdoc},
		{Name: "wiki", write: (*gen).wiki},
		{Name: "short, long comments", write: (*gen).shortLong},
		{Name: "teasers called content", write: (*gen).teasersAsContent},
		{Name: "tables of 2000", write: (*gen).tables2000},
		{Name: "hashed classes", write: (*gen).hashedClasses},
		{Name: "press release", write: (*gen).press},
		{Name: "recipe", write: (*gen).recipe},
		{Name: "old blog", write: (*gen).oldBlog},
		{Name: "page builder", write: (*gen).builder},
		{Name: "category", write: (*gen).category},
		{Name: "gallery", write: (*gen).gallery},
	}
}

// around writes a site's page: what stands around its main column.
func (g *gen) around(title string, main func()) {
	g.doc(title, func() {
		if g.chance(50) {
			g.cookies()
		}
		g.navigation()
		g.in("div", "wrap", func() {
			left := g.chance(25)
			if left {
				g.sidebar()
			}
			g.in(pick(g, "div", "div", "main"), "column", main)
			if !left && g.chance(75) {
				g.sidebar()
			}
		})
		g.footer()
		g.cookies()
	})
}

func (g *gen) news() {
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.in(pick(g, "article", "article", "div"), "article", func() {
			g.headline(title)
			g.share()
			if g.chance(50) {
				g.main(func() { g.para("p", 1) })
			}
			g.in("div", "body", func() { g.story(g.n(4, 20), all) })
			g.tags()
			g.bio()
			if g.chance(50) {
				g.related()
			}
		})
		g.related()
		if g.chance(50) {
			g.comments(g.n(2, 8), 2)
		}
	})
}

func (g *gen) blog() {
	g.scheme = plain
	title := g.title()
	g.around(title, func() {
		g.in("article", "=post-"+fmt.Sprint(g.n(1, 999))+" post type-post status-publish hentry category-news", func() {
			g.in("header", "=entry-header", func() { g.headline(title) })
			g.in("div", "=entry-content", func() {
				g.story(g.n(4, 15), extras{figures: true, newsletter: true})
				if g.chance(60) {
					g.in("div", "=sharedaddy sd-sharing-enabled", func() {
						g.el("h3", "=sd-title", "Share this:")
						g.ul("", 3, func() { g.link("Click to share on " + g.name()) })
					})
					g.in("div", "=jp-relatedposts", func() { g.el("h3", "", "Related"); g.teaser(1); g.teaser(1); g.teaser(1) })
				}
			})
			g.in("footer", "=entry-footer", func() { g.text("Posted in "); g.link(g.word()) })
		})
		g.bio()
		g.pager()
		g.in("div", "=comments-area", func() {
			g.comments(g.n(0, 10), 3)
			g.in("div", "=comment-respond", func() {
				g.el("h3", "", "Leave a Reply")
				g.el("p", "", "Your email address will not be published. Required fields are marked *")
			})
		})
	})
}

func (g *gen) magazine() {
	g.scheme = plain
	title := g.title()
	g.around(title, func() {
		g.in("div", pick(g, "=box article modal", "=ad_body main-article", "=article widget promo", "=modal article-popup"),
			func() {
				g.headline(title)
				g.in("div", pick(g, "=ad_body", "=text widget", "=article_ad content", "=article-subscribe-wall"), func() {
					g.story(g.n(5, 18), extras{ads: true, also: true, figures: true})
				})
				g.tags()
				g.share()
			})
		g.related()
	})
}

func (g *gen) forum() {
	g.scheme = plain
	title := g.title()
	g.around(title, func() {
		g.crumbs()
		g.opt(pick(g, "h1", "h2"), "", title)
		g.pager()
		table := g.chance(50)
		for range g.n(3, 14) {
			write := func() { g.main(func() { g.para(pick(g, "p", "div"), g.n(1, 5)) }) }
			user := func() {
				g.link(g.name())
				g.el("div", "", fmt.Sprint(upper(g.word()), " ", g.n(1, 5000)))
			}
			if table {
				g.in("table", "=tborder", func() {
					g.in("tr", "", func() { g.in("td width=20%", "user", user); g.in("td", "post", write) })
				})
				continue
			}
			g.in("div", "post", func() {
				g.in("dl", "user", func() { g.in("dt", "", user) })
				g.in("div", "=postcontent", write)
				if g.chance(30) {
					g.el("div", "=signature", g.words(g.n(2, 6)))
				}
			})
		}
		g.pager()
	})
}

func (g *gen) questions() {
	title := g.title() + "?"
	g.around(title, func() {
		g.opt("h1", "", title)
		post := func(role string) {
			g.in("div", role, func() {
				g.in("div", "=vote", func() { g.text(fmt.Sprint(g.n(0, 90))) })
				g.in("div", "=post-text", func() {
					g.main(func() {
						for range g.n(1, 4) {
							g.para("p", g.n(1, 4))
							if g.chance(30) {
								g.raw("<pre><code>" + "</code></pre>")
								g.el("pre", "", strings.Join([]string{"func " + g.word() + "() {", g.word() + " = 1", "}"}, "\n"))
							}
						}
					})
				})
				g.in("div", "=post-signature", func() { g.text(g.date() + " "); g.link(g.name()) })
			})
		}
		post("=question")
		for range g.n(1, 5) {
			post("=answer")
		}
		g.related()
	})
}

func (g *gen) shop() {
	title := upper(g.words(g.n(3, 7)))
	g.around(title, func() {
		g.crumbs()
		g.in("div", "product", func() {
			g.opt("h1", "", title)
			g.opt("div", "price", fmt.Sprintf("€ %d.%02d", g.n(5, 900), g.n(0, 99)))
			g.raw("<button>" + upper(g.word()) + "</button>")
			g.main(func() {
				g.in("div", "desc", func() {
					for range g.n(2, 6) {
						g.para("p", g.n(1, 4))
					}
					g.ul("", g.n(3, 8), func() { g.text(g.words(g.n(3, 10))) })
				})
				g.in("table", "specs", func() {
					for range g.n(3, 10) {
						g.in("tr", "", func() { g.el("th", "", g.words(g.n(1, 2))); g.el("td", "", g.words(g.n(1, 4))) })
					}
				})
				g.in("div", "reviews", func() {
					for range g.n(1, 5) {
						g.in("div", "review", func() { g.para("p", g.n(1, 4)) })
					}
				})
			})
		})
		g.teasers("related", g.say("related"), g.n(4, 10))
	})
}
