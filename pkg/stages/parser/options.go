package parser

import (
	"cmp"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Options bound what is made of a page. Zero means no bound.
type Options struct {
	MaxLinks  int // links
	MaxText   int // bytes of main text
	MaxURL    int // bytes of a link as it is in the page; a longer one is left out
	MaxAssets int // images and the like
	// GuessLang says to guess the language from the text where the page does not declare it.
	GuessLang bool
	// Markdown says to make Markdown of the main text.
	Markdown bool
	// Structured says to collect what the page says to programs.
	Structured bool
	// Dates says to note when sitemaps and feeds say that pages changed.
	Dates bool
	// Agent is the name by which directives for one crawler call us; empty: crawl.ProductToken.
	Agent string
}

// agent is the name by which directives call us.
func (o *Options) agent() string { return cmp.Or(o.Agent, crawl.ProductToken) }

// DefaultOptions returns the bounds of crawl.DefaultJob.
func DefaultOptions() Options { return optionsOf(crawl.DefaultJob().Limits) }

// maxURL is twice the default bound of a URL's length, 4,000 bytes. The URL filter rejects URLs that are too long; this
// only keeps megabytes out of its messages.
const maxURL = 8_000

// maxAssets is ours: pages with more images are galleries, whose assets tell nothing new.
const maxAssets = 500

func optionsOf(l crawl.Limits) Options {
	return Options{MaxLinks: l.LinksPerPage, MaxText: int(l.MaxText), MaxURL: maxURL, MaxAssets: maxAssets,
		GuessLang: true}
}

// Result is what a document says.
type Result struct {
	Title     string
	Text      string // main text, UTF-8, one block a line, white space folded
	Lang      string // BCP 47, lower case
	Charset   string // WHATWG name, lower case
	MediaType string // without parameters, lower case
	Canonical string // absolute
	Links     []crawl.Link
	Assets    []string // absolute
	NoIndex   bool
	NoFollow  bool
	Cut       []string // bounds that were met: CutLinks …
	binary    bool     // the body is no text

	crawl.Beyond
	crawl.Extracted // where Options ask for it
}

// Values of Result.Cut and Document.Cut.
const (
	CutLinks      = "links"      // more links, or longer ones, than Options allow
	CutText       = "text"       // more text than Options allow
	CutTitle      = "title"      // a title of more than 1,000 bytes
	CutAssets     = "assets"     // more assets than Options allow
	CutMarkdown   = "markdown"   // more Markdown than Options allow, or a page that none can be made of
	CutStructured = "structured" // more structured data than there is room for, or data that cannot be read
	CutDepth      = "depth"      // nested too deeply for site rules: no fields
	CutFields     = "fields"     // values of fields that were too long or too many
)

func (r *Result) cut(what string) {
	for _, c := range r.Cut {
		if c == what {
			return
		}
	}
	r.Cut = append(r.Cut, what)
}

// addLink adds a link, if the page has not as many as may be; 0: as many as it likes.
func (r *Result) addLink(l *crawl.Link, most int) {
	if most > 0 && len(r.Links) >= most {
		r.tooMany(l)
		return
	}
	r.Links = append(r.Links, *l)
}

// tooMany notes a link that is one too many.
func (r *Result) tooMany(l *crawl.Link) {
	r.cut(CutLinks)
	r.Add(l)
}

// Parse makes a Result of a body of any content type; base is the URL that the body came from.
func Parse(body []byte, contentType string, base weburl.URL, opt Options) *Result {
	switch mt := mediaType(contentType); {
	case looksBinary(body):
		return Binary(contentType)
	case isFeed(mt, body):
		return Feed(body, contentType, base, opt)
	case isPlain(mt):
		return Plain(body, contentType, opt)
	case mt == "", isMarkup(mt), isXML(mt):
		return HTML(body, contentType, base, opt)
	default:
		return Binary(contentType)
	}
}
