package parser

import (
	"bytes"
	"html"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// A formula is text in a notation of one line: the TeX that it was written in, where the page has it beside the MathML
// or instead of a picture, else (a+b)/2 and x^2 made of the MathML. The words of MathML alone would be "a+b2" and "x2".

// maxFormula bounds the MathML of a formula, in bytes.
const maxFormula = 64 << 10

// formula is one in the text.
type formula struct {
	text  string
	tex   bool
	block bool // in a line of its own
}

// onMath writes the formula whose start tag was just read, and veils its markup.
func (p *pass) onMath() {
	if p.unseen() || p.SelfClosing() || p.Offset() < p.mathPlain {
		return
	}
	src := p.Source()[p.Offset():]
	src = src[:min(len(src), maxFormula)]
	end := bytes.Index(src, []byte("</math"))
	if end < 0 {
		p.mathPlain = p.Offset() + len(src)
		return
	}
	block := equalFold(p.attr("display"), "block")
	if tex := cleanTeX(texOf(p.attr("alttext"), src[:end])); tex != "" {
		p.writeFormula(formula{text: tex, tex: true, block: block})
	} else if line := linear(src[:end]); line != "" {
		p.writeFormula(formula{text: line})
	} else {
		p.mathPlain = p.Offset() + end
		return
	}
	p.veil = veil{htmlscan.Math, 1}
}

func (p *pass) writeFormula(f formula) {
	if p.opt.MaxText > 0 && len(p.buf) > collectFactor*p.opt.MaxText {
		p.textFull = true
		return
	}
	p.write([]byte(f.text), false)
	p.lastFormula = f.text
	if p.opt.Markdown {
		p.formulas = append(p.formulas, f)
	}
}

// onPicture writes the formula that a picture shows: WordPress, MediaWiki and others have its TeX as the alt text.
func (p *pass) onPicture() {
	alt := p.attr("alt")
	if len(alt) == 0 || p.unseen() {
		return
	}
	class := p.attr("class")
	if !hasWord(class, "latex") && !hasWord(class, "tex") && !bytes.HasPrefix(class, []byte("mwe-math-fallback")) {
		return
	}
	p.pictured = true
	if tex := cleanTeX(html.UnescapeString(string(alt))); tex != "" && tex != p.lastFormula {
		p.writeFormula(formula{text: tex, tex: true, block: bytes.Contains(class, []byte("display"))})
	}
}

// texOf is the TeX that MathML has with it: as alternative text, or as an annotation.
func texOf(alttext, mathml []byte) string {
	const element = "<annotation"
	for rest := mathml; ; {
		i := bytes.Index(rest, []byte(element))
		if i < 0 {
			break
		}
		tag, body, ok := bytes.Cut(rest[i+len(element):], []byte(">"))
		if !ok {
			break
		}
		if lower := bytes.ToLower(tag); bytes.Contains(lower, []byte("x-tex")) || bytes.Contains(lower, []byte("latex")) ||
			bytes.Contains(lower, []byte(`"tex"`)) {
			text, _, _ := bytes.Cut(body, []byte("</annotation"))
			return html.UnescapeString(string(text))
		}
		rest = body
	}
	if bytes.ContainsAny(alttext, `\^_`) {
		return html.UnescapeString(string(alttext))
	}
	return ""
}

// cleanTeX folds white space and takes off what only says how large the formula is.
func cleanTeX(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "%\n", "")), " ")
	for _, style := range [...]string{`\displaystyle`, `\textstyle`} {
		if in, ok := strings.CutPrefix(s, "{"+style); ok && strings.HasSuffix(in, "}") {
			return strings.TrimSpace(strings.TrimSuffix(in, "}"))
		}
		if in, ok := strings.CutPrefix(s, style+" "); ok {
			return strings.TrimSpace(in)
		}
	}
	return s
}

// appendFormula writes a formula for Markdown: TeX as the element that the converter knows.
func appendFormula(doc []byte, f *formula) []byte {
	text := html.EscapeString(f.text)
	switch {
	case !f.tex:
		return append(doc, text...)
	case f.block:
		return append(append(append(doc, `<math display="block">`...), text...), "</math>"...)
	}
	return append(append(append(doc, "<math>"...), text...), "</math>"...)
}
