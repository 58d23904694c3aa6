package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tidyPre makes the text of a code block plain and notes its language where the library looks for it.
func tidyPre(n *html.Node) {
	text, lang := strings.Trim(cleanText(plainText(n)), "\n"), languageOf(n)
	if strings.TrimSpace(text) == "" {
		remove(n)
		return
	}
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	rename(n, atom.Pre)
	n.AppendChild(textNode(text))
	if lang != "" {
		n.Attr = []html.Attribute{{Key: "class", Val: "language-" + lang}}
	}
	for p := n.Parent; p != nil && !isBlock(p) && p.DataAtom != atom.Body; p = n.Parent {
		if p.FirstChild == n && p.LastChild == n {
			unwrap(p) // code and the like around a block
			continue
		}
		rename(p, atom.Div)
		break
	}
}

// languageOf finds the language of a code block: in its class, that of the code in it, or of the wrappers that
// generators of documentation put around it.
func languageOf(n *html.Node) string {
	for d := range n.Descendants() {
		if lang := classLanguage(d, false); lang != "" {
			return lang
		}
	}
	for depth, p := 0, n; p != nil && depth < 4; depth, p = depth+1, p.Parent {
		if lang := classLanguage(p, depth > 0); lang != "" {
			return lang
		}
	}
	return ""
}

// classLanguage reads class="language-go", "lang-go", "highlight-go", "highlight-source-go", "brush: go" and data-lang.
func classLanguage(n *html.Node, wrapper bool) string {
	if n.Type != html.ElementNode {
		return ""
	}
	for _, key := range []string{"data-lang", "data-language", "lang-code"} {
		if lang := languageName(attr(n, key)); lang != "" {
			return lang
		}
	}
	class := strings.Fields(attr(n, "class"))
	for i, c := range class {
		if c == "brush:" && i+1 < len(class) {
			return languageName(strings.TrimSuffix(class[i+1], ";"))
		}
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-"} {
			if name, ok := strings.CutPrefix(c, prefix); ok && (wrapper || !strings.HasPrefix(prefix, "highlight")) {
				return languageName(name)
			}
		}
	}
	return ""
}

// languageName returns the name of a language; empty for what names none.
func languageName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "default", "none", "text", "plain", "plaintext", "nohighlight":
		return ""
	}
	if len(s) > 32 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+-#._") != "" {
		return ""
	}
	return s
}

// tidyCode leaves plain text in inline code. Links within it come before it: code has none.
func tidyCode(n *html.Node) {
	if isEmpty(n) {
		replaceByText(n)
		return
	}
	mixed := has(n, func(d *html.Node) bool { return d.DataAtom == atom.A || d.DataAtom == atom.Img || isBlock(d) })
	if !mixed {
		text := strings.Join(strings.Fields(plainText(n)), " ")
		for n.FirstChild != nil {
			n.RemoveChild(n.FirstChild)
		}
		rename(n, atom.Code)
		n.AppendChild(textNode(text))
		return
	}
	var leaves []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" && !inCode(d, n) {
			leaves = append(leaves, d)
		}
	}
	for _, d := range leaves {
		wrapWords(d)
	}
	unwrap(n)
}

// inCode reports whether a text is in code within n already.
func inCode(d, n *html.Node) bool {
	for p := d.Parent; p != nil && p != n; p = p.Parent {
		if p.DataAtom == atom.Code || p.DataAtom == atom.Pre {
			return true
		}
	}
	return false
}

// wrapWords puts code around the words of a text, and leaves the white space beside them outside.
func wrapWords(n *html.Node) {
	words := strings.TrimSpace(n.Data)
	before, after, _ := strings.Cut(n.Data, words)
	parent := n.Parent
	if before != "" {
		parent.InsertBefore(textNode(" "), n)
	}
	if after != "" {
		parent.InsertBefore(textNode(" "), n.NextSibling)
	}
	n.Data = strings.Join(strings.Fields(words), " ")
	wrap(n, atom.Code)
}

// replaceByText leaves the white space of an element that shows nothing.
func replaceByText(n *html.Node) {
	if plainText(n) != "" {
		n.Parent.InsertBefore(textNode(" "), n)
	}
	remove(n)
}
