package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// Kind is what a document turned out to be.
type Kind int

// What a document may be.
const (
	Unknown  Kind = iota // none of the others: it has no links
	URLSet               // an XML sitemap
	Index                // an XML sitemap index: its links are sitemaps
	Text                 // one URL a line
	RSS                  // RSS 0.91 to 2.0
	Atom                 // Atom 0.3 and 1.0
	RDF                  // RSS 0.90 and 1.0
	JSONFeed             // JSON Feed 1 and 1.1
)

func (k Kind) String() string {
	names := [...]string{"unknown", "urlset", "index", "text", "rss", "atom", "rdf", "jsonfeed"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Link is a URL found in a document, with what the document says of it.
type Link struct {
	URL        string    // as written, without surrounding white space; not resolved
	Base       string    // the xml:base to resolve it against, relative or absolute; "" where the document's URL serves
	LastMod    time.Time // zero if missing or unreadable
	ChangeFreq string    // sitemaps only: always, hourly … never, in lower case; "" if missing
	Priority   float64   // sitemaps only, 0 to 1; DefaultPriority if missing or out of bounds
}

// DefaultPriority is the priority of a URL that has none (sitemaps.org).
const DefaultPriority = 0.5

// Limits bound what one document may cost. What passes a limit is cut, and Stats says so.
type Limits struct {
	MaxBytes int64 // of the document, decompressed
	MaxLinks int
	MaxToken int // octets of one piece of markup or text; a tag of nothing but attributes takes 30 times that in memory
	MaxDepth int // open elements
	MaxURL   int // octets; longer URLs are skipped
}

// DefaultLimits are those of sitemaps.org: 50 MiB and 50,000 URLs. The others are ours: feeds carry whole articles
// in one token, no URL beyond 8 KiB is worth fetching, and no real document nests deeper than a few dozen elements.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 50 << 20, MaxLinks: 50_000, MaxToken: 1 << 20, MaxDepth: 256, MaxURL: 8 << 10}
}

// Validate reports a limit that would let nothing through.
func (l Limits) Validate() error {
	if l.MaxBytes <= 0 || l.MaxLinks <= 0 || l.MaxToken <= 0 || l.MaxDepth <= 0 || l.MaxURL <= 0 {
		return fmt.Errorf("sitemap limits must all be above 0: %+v", l)
	}
	return nil
}

// Stats say how the reading went.
type Stats struct {
	Links     int   // handed on
	Skipped   int   // left out: URLs and tokens too long
	Faults    int   // places of broken markup that were passed over
	Bytes     int64 // read of the document, decompressed
	Truncated bool  // the document was not read to its end
	Err       error // why: one of the errors below or a fault of the document; nil if not truncated
}

// Why a document was cut.
var (
	ErrTooLarge     = errors.New("document exceeds the size limit")
	ErrTooManyLinks = errors.New("document exceeds the limit of links")
	ErrTokenTooLong = errors.New("a token exceeds the size limit")
	ErrTooDeep      = errors.New("elements nest deeper than the limit")
)

// Parse reads a document and hands its links to emit in order. A document that is cut, broken or of no known kind is
// no error: see Stats and Kind. The error is that of emit, which ends the reading, or of r, or of limits.
func Parse(r io.Reader, limits Limits, emit func(Link) error) (Kind, Stats, error) {
	if err := limits.Validate(); err != nil {
		return Unknown, Stats{}, err
	}
	p := &parser{limits: limits, emit: emit, source: &source{r: r}}
	kind, fault := p.document()
	if p.input != nil {
		p.stats.Bytes = p.input.read
	}
	switch {
	case p.emitErr != nil:
		return kind, p.stats, p.emitErr
	case p.source.err != nil:
		return kind, p.stats, fmt.Errorf("reading a sitemap: %w", p.source.err)
	case fault != nil:
		p.stats.Truncated, p.stats.Err = true, fault
	}
	return kind, p.stats, nil
}

// parser is the state of one Parse.
type parser struct {
	limits  Limits
	emit    func(Link) error
	stats   Stats
	source  *source
	input   *limited
	emitErr error
}

// document reads it all; the error is why it was cut.
func (p *parser) document() (Kind, error) {
	text, err := p.open()
	if err != nil {
		return Unknown, err
	}
	head, _ := text.Peek(sniffLen)
	if junk := junkBefore(head); junk > 0 {
		_, _ = text.Discard(junk) // it has been peeked at
		head, _ = text.Peek(sniffLen)
	}
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return p.feed(text)
	}
	if !isMarkup(head) {
		return p.lines(text)
	}
	if kind, sure := rootKind(head); sure && kind == Unknown {
		return Unknown, nil
	}
	return p.markup(text)
}

// link hands a link on. Its errors end the reading.
func (p *parser) link(l Link) error {
	switch {
	case l.URL == "":
		return nil
	case len(l.URL) > p.limits.MaxURL:
		p.stats.Skipped++
		return nil
	case p.stats.Links == p.limits.MaxLinks:
		return ErrTooManyLinks
	}
	if p.emitErr = p.emit(l); p.emitErr != nil {
		return p.emitErr
	}
	p.stats.Links++
	return nil
}

// lines reads a text sitemap: a URL a line, in UTF-8. It is one only if its first line with anything on it is a URL.
// Other lines that are none are passed over.
func (p *parser) lines(text *bufio.Reader) (Kind, error) {
	kind, buf := Unknown, make([]byte, 0, sniffLen)
	for {
		line, err := readLine(text, buf[:0])
		if isHTTP(line) {
			kind = Text
			if err := p.link(Link{URL: string(line), Priority: DefaultPriority}); err != nil {
				return kind, err
			}
		} else if kind == Unknown && len(line) > 0 {
			return Unknown, nil
		}
		if err != nil {
			return kind, cutBy(err)
		}
	}
}

// cutBy is why reading ended early: nil at the end of the document.
func cutBy(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
