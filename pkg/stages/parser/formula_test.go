package parser

import (
	"strings"
	"testing"
)

func TestFormulas(t *testing.T) {
	const (
		wiki = `<span class=mwe-math-element><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">` +
			`<math alttext="{\displaystyle E=mc^{2}}"><semantics><mrow><mi>E</mi><mo>=</mo><msup><mi>c</mi><mn>2</mn></msup>` +
			`</mrow><annotation encoding="application/x-tex">{\displaystyle E=mc^{2}}</annotation></semantics></math></span>` +
			`<img src=/f.svg class="mwe-math-fallback-image-inline" alt="{\displaystyle E=mc^{2}}"></span>`
		katex = `<span class=katex><span class=katex-mathml><math display=block><semantics><mrow><mi>a</mi></mrow>` +
			`<annotation encoding="application/x-tex">a_1 &lt; b</annotation></semantics></math></span>` +
			`<span class=katex-html aria-hidden=true>a1</span></span>`
		mathjax = `<span class=MathJax_Preview>[x]</span><span class=MathJax id=MathJax-Element-1-Frame><nobr>x</nobr></span>` +
			`<script type="math/tex">x*y*z</script>`
	)
	for doc, want := range map[string][2]string{
		"so " + wiki + " holds": {"so E=mc^{2} holds", "so $E=mc^{2}$ holds"},
		"so " + katex + ".":     {"so a_1 < b.", "so $$a_1 < b$$."},
		"so " + mathjax + " is": {"so x*y*z is", "so $x*y*z$ is"},
		`a <img class=latex src=/l.php alt="\displaystyle \pi &gt; 3"> b`: {`a \pi > 3 b`, `a $\pi > 3$ b`},
		"a <script type=math/tex></script> <b>b_</b>":                     {"a b_", `a **b\_**`},
		`a <img class=latex src=/l.php alt="\$5"> b`:                      {`a \$5 b`, `a \\$5 b`},
		"x <math><mi>y</mi><mo>+</mo><mn>1</mn></math>, <b>b</b>":         {"x y+1, b", "x y+1, **b**"},
		"<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mo>≥</mo><msqrt><mi>a</mi><mi>b</mi></msqrt></math>": {
			"(a+b)/2≥√(ab)", "(a+b)/2≥√(ab)"},
		"<math><msubsup><mi>x</mi><mi>max</mi><mn>12</mn></msubsup><mo>&#x2062;</mo><mi>sin</mi><mo>&#x2061;</mo><mi>y</mi></math>": {
			"x_max^12 sin y", `x\_max^12 sin y`},
		"<math><mroot><mi>x</mi><mn>3</mn></mroot><mover><mi>v</mi><mo>→</mo></mover><msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup></math>": {
			"√[3]xv→(a)^(n+1)", "√\\[3]xv→(a)^(n+1)"},
		"<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable></math>": {
			"1 2; 3", "1 2; 3"},
		"a <math><mi>x</mi> <p>not closed": {"a x\nnot closed", "a x\n\nnot closed"},
	} {
		opt := DefaultOptions()
		opt.Markdown = true
		r := HTML([]byte("<p>"+doc), "text/html; charset=utf-8", mustURL(t, pageURL), opt)
		if r.Text != want[0] || r.Markdown != want[1] {
			t.Errorf("%s\n got %q and %q\nwant %q and %q", doc, r.Text, r.Markdown, want[0], want[1])
		}
	}
}

func TestHugeFormulaIsLeftAsItIs(t *testing.T) {
	for _, doc := range []string{"<math>" + strings.Repeat("<msup>", 1000) + "x</math>",
		"<math>" + strings.Repeat("<mi>x</mi>", 5000) + "</math>", strings.Repeat("<math>", 300_000),
		strings.Repeat(strings.Repeat("<math>", 10_000)+"</math>", 30)} {
		if got := parseHTML(t, "<p>"+doc+"<p>behind it").Text; !strings.HasSuffix(got, "behind it") {
			t.Errorf("%.40s: got %q", doc, got)
		}
	}
}
