package parser

import (
	"strings"
	"testing"
)

// words10 is a paragraph of prose, and prose is enough of it for the text of a page.
const (
	words10 = "The lock was dug by hand in a single dry summer. "
	prose   = "<p>" + words10 + words10 + words10 + "</p><p>" + words10 + words10 + "</p>"
)

// What markup that systems really emit makes of the main text. The texts hold what is wanted and what is not.
// A page of pictures has its title for a text, not its menu.
func TestMenusOfPagesOfPicturesAreNoText(t *testing.T) {
	checkText(t, `<title>Boats | Ann</title><header><nav><a href=1>Home</a> <a href=2>Works</a></nav></header><main><h1>Boats</h1>
		<img src=1.jpg><p>Oil, 2019</p></main><footer>All rights are reserved by Ann</footer>`, "Boats|Oil", "Home|Works|rights")
}

func TestMainTextOfRealMarkup(t *testing.T) {
	consent := `<div class="cookie-banner"><p>We value your privacy and use cookies to show content, and ` +
		strings.Repeat("to learn what visitors read, ", 6) + `as you may know.</p></div>`
	nav := `<header><a href=/>Old Mill</a> Menu</header>`
	for _, c := range []struct{ name, doc, want, without string }{
		{"little text in main", nav + `<main><h1>Contact</h1><p>4 Weir Road, Norbury, open from nine</p></main>
			<footer><p>All rights reserved</p></footer>`, "Contact|4 Weir Road", "Menu|rights"},
		{"little text without main", `<div id=header>Old Mill Books</div><div id=x><h1>Hours</h1>Open from ten to six</div>
			<div id=footer>Telephone 01234</div>`, "Hours|Open from", "Telephone"},
		{"little text and a long notice", `<div><h1>Status</h1><p>The ferry is running all day</p></div>` + consent +
			`<noscript>Please turn on scripts to see the positions of boats</noscript>`, "Status|ferry", "privacy|scripts"},
		{"nothing but a noscript", `<div id=root></div><noscript>` + prose + words10 + `</noscript>`, "The lock", ""},
		{"nothing but a policy", `<h1>Policy</h1><div class="cookie-policy">` + strings.Repeat(prose, 6) + `</div>`,
			"The lock", ""},
		{"nothing but a footer", `<h1>Hi</h1><footer>Made by nobody in particular</footer>`, "nobody", ""},
		{"a wrapper of two columns", `<div class="content-sidebar-wrap"><main><h1>Soup</h1>` + prose +
			`<div id=x class="entry-comments"><p>` + words10 + `I liked it</p></div></main><aside class=sidebar>Hi, I am Bea` +
			`</aside></div>`, "Soup|The lock", "liked|Bea"},
		{"the same without main", `<div id="content-sidebar-wrap"><div id=content>` + prose +
			`<p class=tail>And so on</p></div><div id=sidebar>` + words10 + `Bea</div></div>`, "The lock|And so", "Bea"},
		{"a letter", `<div class=menu>Slow Water</div><article class="newsletter-post post"><h1>Ferries</h1>` + prose +
			`</article><div class=comments-section><p>` + words10 + `Loved it</p></div>`, "Ferries|The lock", "Slow|Loved"},
		{"buttons in headings", `<main><h1>Questions</h1><div><h2><button>May I bring a dog?</button></h2><div>` + words10 +
			`</div></div><div><h2><button>Is there fog?</button></h2><div>` + words10 + `</div></div>
			<h2>Late<button>Copy</button></h2>` + prose + `</main>`, "bring a dog?|fog?|Late", "Copy"},
		{"an introduction", `<article><header class=h><h1>Brewing</h1><p>Cold cellars make very patient brewers and such make beer
			</p><div class=by>By Mo</div></header><section>` + prose + prose + prose + `</section></article><title>Brewing</title>`,
			"Brewing|patient|The lock", "By Mo"},
		{"a message of a list", `<h1>[dev] Gate</h1><i>Tue Mar 5</i><ul><li>Previous message: <a href=1>[dev] A patch for the gauge</a>
			<li>Next message: <a href=2>[dev] The gate is too late</a></ul><hr><pre>` + words10 + words10 + words10 + `</pre>
			<ul><li>Previous message: <a href=1>[dev] A patch for the gauge</a><li>Next message: <a href=2>[dev] The gate is
			too late</a><li>Sorted by: <a href=3>date or the</a> <a href=4>thread</a></ul>`, "The lock", "message|Sorted"},
		{"little text and a long footer", `<div class=navbar>The Ferry Company</div><div><h1>Hours</h1>
			<p>Tuesday to Friday from ten to six</p></div><div class=footer>Ferry Company, Am Wehr 4, Norbury, telephone 01234
			567890, registered in England under number 012345, by all of us</div>`, "Hours|Tuesday", "Am Wehr|The Ferry"},
		{"a menu to eat from", `<h1>Our menu of this week</h1><div class=menu-list><p>` + words10 + words10 + words10 +
			`</p></div>`, "menu of|The lock", ""},
		{"answers", `<main><div>` + prose + `</div><div class=thread-replies><p>` + words10 + `Happy</p></div></main>`,
			"The lock|Happy", ""},
		{"a title that is no heading", `<title>How do I fill it? - Locks</title><div><div class=s><p class=t><a href=1>How do I
			fill it?</a></p></div><div class=e>` + prose + prose + `</div></div>`, "How do I fill it?|The lock", ""},
		{"a lesser title", `<title>A bridge</title><article><header><h1>A bridge</h1><h2>It was a very close vote</h2>
			<i>By Ann</i></header><div>` + prose + prose + `</div></article>`, "A bridge|close vote", "Ann"},
		{"a div by its id", `<main><div>` + prose + `</div><div id=paywall><p>` + words10 + `Subscribe</p></div></main>`,
			"The lock", "Subscribe"},
		{"signatures", `<div id=posts><div>` + prose + `</div><div>_____________<br>Old boats never die</div><div>` + prose +
			`</div></div><div>Powered by <a href=/>Board</a> 3.8</div>`, "The lock", "never die|Board"},
		{"code with its toolbar off", prose + `<pre class="brush: js; toolbar: false">let lock = 1</pre>` + prose, "let lock",
			""},
		{"code in a toolbar", prose + `<div class=code-toolbar><pre>let lock = 1</pre><div class=toolbar>Copy</div></div>` +
			prose, "let lock", "Copy"},
		{"things to tick", prose + `<ul><li><input type=checkbox>two cups<li><input type=checkbox>one lock</ul>` + prose,
			"two cups|one lock", ""},
		{"questions", `<div class=faq>` + strings.Repeat(`<div><button aria-expanded=false aria-controls=a>What fills it?`+
			`</button><div>`+prose+`</div></div>`, 3) + `<button aria-expanded=false>Show more</button></div>`,
			"What fills it?|The lock", "Show more"},
		{"a table of links", prose + `<table><tr><th>Lock<th>Town<th>Year` + strings.Repeat(`<tr><td><a href=1>Old lock</a>`+
			`<td><a href=2>Lower town</a><td>1901`, 9) + `</table>`, "Old lock|Lower town|1901", ""},
		{"a hero", `<title>A lock</title><div class=hero-banner><h1>A lock</h1><p>` + words10 + `Happy</p></div><div>` +
			prose + prose + `</div>`, "A lock|Happy|The lock", ""},
		{"a book", `<title>Locks</title><div class=chapter><div class=titlepage><h2>Locks</h2></div><div class=section><p>` + prose +
			`<div class=sidebar><p>` + strings.Repeat(words10, 20) + `Boats</div></div></div>`, "Locks|The lock|Boats", ""},
		{"two introduced links", prose + `<p>Read these:</p><ul><li><a href=1>How to dig a long lock</a>
			<li><a href=2>How to fill a short lock</a></ul>` + prose, "dig a|fill a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := parseHTML(t, c.doc).Text
			for want := range strings.SplitSeq(c.want, "|") {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for not := range strings.SplitSeq(c.without, "|") {
				if not != "" && strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}
