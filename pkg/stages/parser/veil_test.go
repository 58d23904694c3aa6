package parser

import (
	"strings"
	"testing"
)

func TestTextThatIsNotShownIsNoText(t *testing.T) {
	for doc, want := range map[string]string{
		`<p>one <span style="display:none">no</span>two <span hidden>no <b>no</b></span>three`:                             "one two three",
		`<p>one <span hidden>no <span>no</span> no</span>two <a href=x style="DISPLAY : none">no</a>three`:                 "one two three",
		`<ul><li>one<li style="color:red;display:none !important">no<li hidden=hidden>no<li>two</ul>`:                      "one\ntwo",
		`<table><tr style=display:none><td>no<td>no<tr><td>one</table><h2 hidden>no</h2><p>two`:                            "one\ntwo",
		`<p>one <span hidden>no<p>two</p><span hidden>no</div><p>three`:                                                    "one\ntwo\nthree",
		`<div hidden="until-found">one</div><p style="display:none;display:inline">two`:                                    "one\ntwo",
		`<div role=tabpanel>one</div><div hidden role=tabpanel>two</div><div role=region style="display:none">three</div>`: "one\ntwo\nthree",
		`<p>one</p><div hidden><div role=tabpanel>no</div></div><div role=tabpanel><div hidden>no</div>two</div>`:          "one\ntwo",
		`<p style="--display: none">one<p style="display:block">two`:                                                       "one\ntwo",
		`<h2>Uses<span class="mw-editsection"><span>[</span><a href=e>edit</a><span>]</span></span></h2>`:                  "Uses",
		`<p>so <span class=katex><span class=katex-mathml><math><semantics><mi>E</mi><annotation encoding=x>E_0` +
			`</annotation></semantics></math></span><span class=katex-html aria-hidden=true><span>E</span></span></span> is`: "so E is",
		`<p>one <a href=x>two<svg><title>no</title><g><text>no</text></g></svg></a>, three`:                 "one two, three",
		`<p>so <span class=mwe-math-mathml style="display: none"><math><mi>E</mi></math></span> is`:         "so E is",
		`<p>so <script type="math/tex">a < b^2</script><script type="math/tex; mode=display">c</script> is`: "so a < b^2c is",
	} {
		r := parseHTML(t, doc)
		if r.Text != want {
			t.Errorf("%s\n got %q\nwant %q", doc, r.Text, want)
		}
	}
}

func TestLinksThatAreNotShownKeepTheirText(t *testing.T) {
	r := parseHTML(t, `<a href=1><i></i><span hidden> Log &amp; in </span></a> <a href=2>Out <span hidden>(new)</span></a>`)
	if len(r.Links) != 2 || r.Links[0].Text != "Log & in" || r.Links[1].Text != "Out" {
		t.Errorf("%+v", r.Links)
	}
}

func TestLinksWithoutTextHaveTheirLabels(t *testing.T) {
	r := parseHTML(t, `<a href=1><img src=i alt="A &amp;  b"></a> <a href=2 title=no aria-label=Two><i></i></a>
		<a href=3 title=Three><img src=i alt=""></a> <a href=4 title=no><img src=i alt=no>Four</a> <a href=5><b></b></a>`)
	want := []string{"A & b", "Two", "Three", "Four", ""}
	for i, l := range r.Links {
		if l.Text != want[i] {
			t.Errorf("%d: %q, want %q", i+1, l.Text, want[i])
		}
	}
	if want := "Four"; r.Text != want {
		t.Errorf("text %q, want %q", r.Text, want)
	}
}

func TestMarkdownHasNoTextThatIsNotShown(t *testing.T) {
	doc := `<p>One <span hidden>no <img src=i.png></span>two <a href=e style=display:none>no</a>three</p>`
	if got := strings.TrimSpace(extractedFrom(t, doc).Markdown); got != "One two three" {
		t.Errorf("%q", got)
	}
}
