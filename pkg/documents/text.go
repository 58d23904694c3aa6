package documents

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Values of crawl.Opened.Cut.
const (
	cutPages = "pages"
	cutText  = "text"
	cutLinks = "links"
)

// maxField bounds title and author, in bytes; maxLink a link.
const (
	maxField = 1000
	maxLink  = 8000
)

// collector gathers what a document says, within the bounds of its request.
type collector struct {
	req  *crawl.OpenRequest
	out  crawl.Opened
	text strings.Builder
	line strings.Builder
	seen map[string]bool
}

func newCollector(r *crawl.OpenRequest) *collector {
	return &collector{req: r, seen: map[string]bool{}}
}

func (c *collector) cut(what string) {
	if !slices.Contains(c.out.Cut, what) {
		c.out.Cut = append(c.out.Cut, what)
	}
}

// full reports whether there is as much text as is wanted.
func (c *collector) full() bool { return c.req.Text > 0 && c.text.Len()+c.line.Len() >= c.req.Text }

// add adds text to the line.
func (c *collector) add(s string) {
	if room := c.req.Text - c.text.Len() - c.line.Len(); c.req.Text > 0 && len(s) > room {
		c.cut(cutText)
		s = s[:max(room, 0)]
	}
	c.line.WriteString(s)
}

// end ends the line. White space is folded; an empty line is none.
func (c *collector) end() {
	fields := strings.Fields(strings.ToValidUTF8(c.line.String(), ""))
	c.line.Reset()
	if len(fields) == 0 {
		return
	}
	if c.text.Len() > 0 {
		c.text.WriteByte('\n')
	}
	c.text.WriteString(strings.Join(fields, " "))
}

// link notes a link, each once.
func (c *collector) link(href string) {
	href = strings.TrimSpace(href)
	switch {
	case href == "" || href[0] == '#' || c.seen[href]:
		return
	case c.req.Links > 0 && len(c.out.Links) >= c.req.Links, len(href) > maxLink:
		c.cut(cutLinks)
		return
	}
	c.seen[href] = true
	c.out.Links = append(c.out.Links, href)
}

// page says that another page, slide or sheet begins, and reports whether it is to be read.
func (c *collector) page() bool {
	if c.req.Pages > 0 && c.out.Pages >= c.req.Pages {
		c.cut(cutPages)
		return false
	}
	c.out.Pages++
	return true
}

// done returns what was gathered.
func (c *collector) done() *crawl.Opened {
	c.end()
	c.out.Text = c.text.String()
	if limit := c.req.Text; limit > 0 && len(c.out.Text) > limit {
		for limit > 0 && !utf8.RuneStart(c.out.Text[limit]) {
			limit--
		}
		c.out.Text = c.out.Text[:limit]
	}
	c.out.Title, c.out.Author, c.out.Lang = short(c.out.Title), short(c.out.Author), short(c.out.Lang)
	return &c.out
}

// short folds white space and bounds a value.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), maxField)], "")), " ")
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, s)
}

// failed is a document that could not be opened.
func failed(reason, detail string) *crawl.Opened {
	const long = 300
	if len(detail) > long {
		detail = strings.ToValidUTF8(detail[:long], "") + "…"
	}
	return &crawl.Opened{Reason: reason, Detail: detail}
}
