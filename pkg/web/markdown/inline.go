package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/marker"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// link makes a link absolute. One that leads nowhere, or only to its own heading, is none.
func (t *tidier) link(n *html.Node) {
	text := strings.TrimSpace(plainText(n))
	switch text {
	case "¶", "§", "#", "🔗", "\uF0C1":
		remove(n)
		return
	}
	href := strings.TrimSpace(attr(n, "href"))
	if href != "" {
		href = t.resolve(href)
	}
	if href == "" || isEmpty(n) || has(n, func(d *html.Node) bool { return d.DataAtom == atom.A }) {
		unwrap(n)
		return
	}
	flatten(n)
	guardBrackets(n)
	n.Attr = []html.Attribute{{Key: "href", Val: href}}
}

// Brackets in the text of a link are these until the library has done its work: it leaves them as they are, and they
// would end the link.
const (
	bracketOpen  = '\uF003'
	bracketClose = '\uF004'
)

var (
	guards   = strings.NewReplacer("[", string(bracketOpen), "]", string(bracketClose))
	unguards = strings.NewReplacer(string(bracketOpen), `\[`, string(bracketClose), `\]`)
)

// withinCode reports whether a node lies in what becomes code.
func withinCode(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Pre, atom.Math:
			return true
		}
	}
	return false
}

func guardBrackets(n *html.Node) {
	if withinCode(n) {
		return // it will be code within the link
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.DataAtom != atom.Code &&
			d.Parent.DataAtom != atom.Math {
			d.Data = guards.Replace(d.Data)
		}
	}
}

// image makes an image absolute: of those that are loaded later, the source to come.
func (t *tidier) image(n *html.Node) {
	src := ""
	for _, key := range []string{"src", "data-src", "data-original", "data-lazy-src"} {
		ref := strings.TrimSpace(attr(n, key))
		if ref == "" || len(ref) >= 5 && strings.EqualFold(ref[:5], "data:") {
			continue
		}
		if src = t.resolve(ref); src != "" {
			break
		}
	}
	if src == "" {
		remove(n)
		return
	}
	n.Attr = []html.Attribute{{Key: "src", Val: src}, {Key: "alt", Val: strings.Join(strings.Fields(cleanText(attr(n,
		"alt"))), " ")}}
}

// renderInline writes links and images with the URLs as they are: the library would encode their queries anew. It
// writes quotes, too: in the library's the code blocks lose their place.
func renderInline(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	switch n.DataAtom {
	case 0:
		return renderTask(w, n)
	case atom.A:
		return renderLink(ctx, w, n)
	case atom.Blockquote:
		return renderQuote(ctx, w, n)
	case atom.Math:
		return renderFormula(w, n)
	case atom.Img:
		writeString(w, "![", labelOf(attr(n, "alt")), "](", destination(attr(n, "src")), ")")
		return converter.RenderSuccess
	}
	return converter.RenderTryNext
}

func renderTask(w converter.Writer, n *html.Node) converter.RenderStatus {
	if n.Data != task {
		return converter.RenderTryNext
	}
	box := "[ ] "
	for _, a := range n.Attr {
		if a.Key == "checked" {
			box = "[x] "
		}
	}
	writeString(w, box)
	return converter.RenderSuccess
}

// renderFormula writes TeX as GitHub and others read it. What has a dollar sign is written as text.
func renderFormula(w converter.Writer, n *html.Node) converter.RenderStatus {
	tex, mark := plainText(n), "$"
	if strings.Contains(tex, "$") {
		return converter.RenderTryNext
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.Td || p.DataAtom == atom.Th {
			tex = bars.Replace(tex)
		}
	}
	if attr(n, "display") == "block" {
		mark = "$$"
	}
	writeString(w, mark, tex, mark)
	return converter.RenderSuccess
}

// bars would end the cell of a table.
var bars = strings.NewReplacer(`\|`, `\Vert `, "|", `\vert `)

func writeString(w converter.Writer, parts ...string) {
	for _, s := range parts {
		_, _ = w.WriteString(s) // a bytes.Buffer, which does not fail
	}
}

func renderLink(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	var buf bytes.Buffer
	ctx.RenderChildNodes(ctx, &buf, n)
	content := buf.String()
	text := strings.Join(strings.Fields(content), " ")
	if text == "" {
		return converter.RenderTryNext
	}
	if strings.TrimLeft(content, " \n\t") != content {
		writeString(w, " ")
	}
	writeString(w, "[", text, "](", destination(attr(n, "href")), ")")
	if strings.TrimRight(content, " \n\t") != content {
		writeString(w, " ")
	}
	return converter.RenderSuccess
}

// renderQuote puts "> " before each line, also before those of code blocks, whose line breaks are marks until the end.
func renderQuote(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	var buf bytes.Buffer
	ctx.RenderChildNodes(ctx, &buf, n)
	content := bytes.TrimSpace(buf.Bytes())
	if len(content) == 0 {
		return converter.RenderSuccess
	}
	content = ctx.UnEscapeContent(blankLines.ReplaceAll(content, []byte("\n\n")))
	mark := string(marker.MarkerCodeBlockNewline)
	quote := strings.NewReplacer("\n", "\n> ", mark, mark+"> ")
	writeString(w, "\n\n> ", quote.Replace(string(content)), "\n\n")
	return converter.RenderSuccess
}

var blankLines = regexp.MustCompile(`\n{3,}`)

var (
	destinations = strings.NewReplacer(" ", "%20", "(", `\(`, ")", `\)`, "<", "%3C", ">", "%3E", "\\", "%5C", "\n", "%0A",
		"\a", "", "|", `\|`)
	labels = strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "`", "\\`", "*", "\\*", "_", "\\_", "<", "&lt;",
		"|", "\\|", "&", "&amp;",
		"!", "\\!", "~", "\\~")
)

// destination is a URL as it is in a link: nothing in it ends the link, or a cell of a table.
func destination(url string) string { return escapeRefs(destinations.Replace(url)) }

// labelOf escapes the text of an image.
func labelOf(alt string) string { return labels.Replace(alt) }
