// Package markdown turns an HTML document into Markdown: CommonMark, with the tables and the strike-through of GitHub.
//
// The conversion itself, the escaping above all, is github.com/JohannesKaufmann/html-to-markdown's. What this package
// adds comes before it: it tidies the tree, so that what Markdown cannot say becomes what it can (definition lists,
// tables within tables, blocks within links), and bounds it, because a few bytes of HTML can ask for gigabytes of
// table.
//
// It must never fetch anything, and never keep a part of the document.
package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// ErrTooLarge says that a document is beyond what is converted.
var ErrTooLarge = errors.New("the document is too large for Markdown")

// maxNodes bounds the tree: converting takes about a kilobyte a node.
const maxNodes = 200_000

// Options say how a document is converted.
type Options struct {
	// Resolve makes an absolute URL of a reference; "" where it leads nowhere, so that its text stays without a link.
	Resolve func(ref string) string
	MaxText int // bytes of Markdown; 0: no bound
}

// Convert makes Markdown of an HTML document in UTF-8. cut says that it was longer than the options allow.
func Convert(doc []byte, opt Options) (text string, cut bool, err error) {
	root, err := html.Parse(bytes.NewReader(doc))
	if err != nil { // nested deeper than the parser goes
		return "", false, fmt.Errorf("parse a document for Markdown: %w", err)
	}
	body := bodyOf(root)
	if body == nil {
		return "", false, nil
	}
	if count(body) > maxNodes {
		return "", false, ErrTooLarge
	}
	tidy(body, opt.Resolve)
	return render(body, opt.MaxText)
}

// render converts a tidied tree. That the library panics at some tree must not cost the page its record.
func render(body *html.Node, limit int) (text string, cut bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("convert to Markdown: %v", p)
		}
	}()
	out, err := newConverter().ConvertNode(body)
	if err != nil {
		return "", false, fmt.Errorf("convert to Markdown: %w", err)
	}
	text = strings.ToValidUTF8(unguards.Replace(string(bytes.TrimSpace(out))), "\uFFFD")
	if limit > 0 && len(text) > limit {
		return shorten(text, limit), true, nil
	}
	return text, false, nil
}

// newConverter returns a converter for one document: a converter may be used again, but its locks are held for the time
// of each node.
func newConverter() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		// No comments between lists: they are words to whoever reads the text as it stands.
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false), commonmark.WithHorizontalRule("---")),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true)),
	))
	c.Register.Renderer(renderInline, converter.PriorityEarly)
	c.Register.TextTransformer(func(_ converter.Context, s string) string { return escapeRefs(s) },
		converter.PriorityEarly)
	c.Register.UnEscaper(opensTable, converter.PriorityStandard)
	return c
}

// reference is what would be read as a character reference.
var reference = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)

// escapeRefs escapes what would be read as a character reference; the library lets it stand.
func escapeRefs(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return reference.ReplaceAllString(s, "&amp;$1")
}

// shorten cuts at the end of a line, and ends the code block that is open there.
func shorten(text string, limit int) string {
	const room = len("\n```\n")
	end := max(limit-room, 0)
	if i := strings.LastIndexByte(text[:end], '\n'); i >= 0 {
		end = i
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	fence := ""
	for line := range strings.SplitSeq(text[:end], "\n") {
		mark := fenceOf(strings.TrimLeft(line, " >-0123456789."))
		switch {
		case fence == "":
			fence = mark
		case strings.HasPrefix(mark, fence):
			fence = ""
		}
	}
	if fence == "" || end+1+len(fence) > limit {
		return text[:end]
	}
	return text[:end] + "\n" + fence
}

// fenceOf returns the backquotes that a line begins with, if they are those of a code block.
func fenceOf(line string) string {
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < len("```") {
		return ""
	}
	return line[:n]
}
