package parser

import (
	"strings"
	"testing"
)

// What is short and is beside a long text is text, too, if it is under the title.
func TestFactsAroundTheTextAreText(t *testing.T) {
	pairs := func(name, value string) string {
		return strings.Repeat("<tr><th>"+name+"</th><td>"+value+"</td></tr>", 3)
	}
	for _, c := range []struct{ name, doc, want, without string }{
		{"a product", `<title>Oak table | Shop</title><div class=p><div class=info><h1>Oak table</h1>
			<div class=price>€ 899.00</div>
			<form><span>Quantity</span><input type=number></form></div><div class=tabs><a href=#d>Details</a></div><div id=d>` +
			prose + prose + `</div><div id=s><h2>Data</h2><table>` + pairs("Height", "74 cm") + `</table></div></div>
			<div class=more><h2>Elsewhere</h2><table>` + pairs("Beds", "2") + `</table></div>`,
			"Oak table|899|The lock|Data|Height|74 cm", "Quantity|Details|Beds"},
		{"an event", `<title>Songs</title><main><div><p><a href=/>All events</a></p><h1>Songs</h1><div><h2>March 14</h2>
			<span>$ 15</span></div><div class=description>` + prose + prose + `</div><div><h2>Venue</h2><dl><dt>Hall<dd>Quay
			Street 12<dt>Phone<dd>555</dl></div></div></main>`, "March 14|$ 15|Quay Street|555", "All events"},
		{"an introduction and a byline", `<title>A year</title><article><header><h1>A year</h1><p>What I learnt<p>By Ann Bee
			</header><section>` + prose + prose + `</section></article>`, "What I learnt|The lock", "Ann"},
		{"a live blog", `<title>Storm</title><main><h1>Storm</h1><p>All the news of it</p><div>` + strings.Repeat(`<article>
			<h3>Update</h3>`+prose+`<div class=share-tools><a href=1>Share on Facebook</a><a href=2>Copy the link</a></div>
			</article>`, 4) + `</div></main>`, "All the news|The lock", "Facebook|Copy"},
		{"a posting whose body has a name", `<title>Baker | Jobs</title><div><div class=head><h1>Baker</h1><p>Full time</div>
			<div><div class=job-body>` + prose + prose + `</div><div><div><span>Salary</span> 2,900 €</div><div>From June</div>
			</div></div></div><div><div>Salary</div><div>3,000 €</div></div>`, "Full time|The lock|2,900|June", "3,000"},
		{"a column of old", `<title>Hull</title><h1>Hull</h1><table><tr><td><table><tr><td>Main boxes</table><td>` + prose +
			prose + `</table>`, "The lock", "boxes"},
		{"a page builder's widgets", `<title>Roofs</title><div class="elementor-element elementor-widget elementor-widget-heading">
			<h1>Roofs</h1></div><div class="elementor-element elementor-widget elementor-widget-text">` + prose + prose +
			`</div><div class="elementor-element elementor-widget elementor-widget-counter"><b>320</b><p>roofs a year</div>`,
			"Roofs|The lock|320", ""},
		{"a section of its own", `<title>Knots</title><main><h1>Knots</h1><section class=a>` + prose + prose + `</section>
			<section class=b><h2>Who</h2><p>Bo Bell</section><section class=c><h2>More</h2><p><a href=1>Ropes</a></section></main>`,
			"Bo Bell", "Ropes"},
		{"figures and words", `<title>Hull</title><div><h1>Hull</h1><div class=b>` + prose + prose + `</div><div><b>Who</b><p>Sees
			this</div></div>`, "The lock", "Sees"},
		{"a posting whose body has a name", `<title>Baker | Jobs</title><div><div class=head><h1>Baker</h1><p>Full time</div>
			<div><div class=job-body>` + prose + prose + `</div><div><div><span>Salary</span> 2,900 €</div><div>From June</div>
			</div></div></div><div><div>Salary</div><div>3,000 €</div></div>`, "Full time|The lock|2,900|June", "3,000"},
		{"figures and words", `<title>Hull</title><div><h1>Hull</h1><div class=b>` + prose + prose + `</div><div><b>Who</b><p>Sees
			this</div></div>`, "The lock", "Sees"},
	} {
		t.Run(c.name, func(t *testing.T) { checkText(t, c.doc, c.want, c.without) })
	}
}

func checkText(t *testing.T, doc, want, without string) {
	t.Helper()
	text := parseHTML(t, doc).Text
	for part := range strings.SplitSeq(want, "|") {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for part := range strings.SplitSeq(without, "|") {
		if part != "" && strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

// All articles of a live blog are text: the links under each to share it are no titles of other pages.
func TestLinksToShareAreNoTitles(t *testing.T) {
	post := `<article><h3>Update</h3>` + prose + `<div class=share><a href=1>Share on Facebook</a> <a href=2>Copy it</a>
		</div></article>`
	if n := strings.Count(parseHTML(t, "<main>"+strings.Repeat(post, 5)+"</main>").Text, "Update"); n != 5 {
		t.Errorf("%d of 5 articles", n)
	}
}

// What people say to each other is the text of the pages of Hacker News and of Reddit.
func TestPagesOfTalkAreText(t *testing.T) {
	said := `<tr class=comtr><td><span class=comhead><a href=u>ann</a> <a href=i>1 hour ago</a></span><div class=comment>
		<div class=commtext>` + words10 + `</div><div class=reply><a href=r>reply</a></div></div>`
	hacker := `<title>A clock | Hacker News</title><table id=hnmain><tr><td><a href=1>new</a> | <a href=2>past</a> |
		<a href=3>ask</a> | <a href=4>show</a><tr><td class=title><a href=x>A clock</a><tr><td>` + words10 + words10 +
		words10 + `Mine<tr><td><table class=comment-tree>` + strings.Repeat(said, 5) + `</table></table>`
	checkText(t, hacker, "A clock|Mine|ann", "past|reply")
	if n := strings.Count(parseHTML(t, hacker).Text, "The lock"); n != 8 {
		t.Errorf("%d of 8 sentences", n)
	}
	checkText(t, `<title>Nets : boats</title><div role=banner>Subs</div><div class=side>Rules here</div>
		<div class=content role=main><div class="sitetable linklisting"><p class=title><a href=x>Nets</a></p>`+prose+prose+`</div><div
		class=commentarea><div class="sitetable nestedlisting">`+strings.Repeat(`<div class="thing comment"><p>`+words10+
		`Agreed</p></div>`, 3)+`</div></div></div>`, "Nets|The lock|Agreed", "Subs|Rules")
}

func TestMarkupOfBoardsAndArchives(t *testing.T) {
	post := `<div class=post><dl class=postprofile><dt>ann<dd>Posts: 3</dl><div class=postbody><h3><a href=#p1>Re: Hull</a>
		</h3><div class=content>` + prose + `</div><div class=signature>Ships in harbour</div></div></div>`
	checkText(t, `<div role=main><h2>Hull</h2>`+strings.Repeat(post, 4)+`</div>`, "Hull|The lock", "harbour|Posts")
	checkText(t, `<pre>`+words10+words10+words10+`</pre><ul><li>Previous message (by thread): <a href=1>[Boats] Sails</a>
		<li>Next message: <a href=2>Sails</a></ul>`, "The lock", "message")
	checkText(t, prose+`<div class=card><h4>Why paper?</h4><button class=icon><svg><path/></svg></button></div>`+prose,
		"Why paper?", "")
	checkText(t, `<main><div role=note class="hatnote navigation-not-searchable">For the river, see there</div>`+prose+
		`</main>`, "For the river", "")
	checkText(t, prose+`<div role=tabpanel>npm i hooks</div><div role=tabpanel hidden>yarn add hooks</div><div hidden>
		<div role=tabpanel>make hooks</div></div>`+prose, "npm i|yarn add", "make")
	checkText(t, `<div class=content>`+prose+`<ul class="flat-list buttons"><li><a href=1>hide</a></ul>`+prose+`</div>`,
		"The lock", "hide")
}

// A heading may be called what its list is not: of elements whose names no standard knows the class says nothing.
func TestHeadingsOfOtherPages(t *testing.T) {
	for _, head := range []string{`<x-list class=related-products><h2 class="related-products__heading">You may also like</h2>`,
		`<div class=related-title><h3>Similar products</h3></div>`, `<h2>Similar jobs</h2>`, `<h3>Похожие товары</h3>`} {
		checkText(t, `<main><section>`+prose+`</section><section>`+head+`<ul><li><div><h3><a href=1>Kettle</a></h3><span>$29</span>
			</div><li><a href=2>Ship bell</a></ul></section></main>`, "The lock", "like|Similar|Kettle|$29|bell")
	}
}

// What a site's programs call a part of its pages does not make that part a menu, or what readers wrote.
func TestNamesThatTellOfThePage(t *testing.T) {
	checkText(t, `<title>Deploy</title><main><article><div class="theme-doc-markdown markdown"><h1>Deploy</h1>`+prose+
		`<h2 class="anchor anchorWithStickyNavbar_LWe7" id=ci>From a pipeline</h2>`+prose+`<h3 class=navbar-title>Guides</h3>`+
		prose+`</div></article></main>`, "From a pipeline|The lock", "Guides")
	checkText(t, `<title>Grids</title><div id=content><h1>Grids</h1><blockquote>`+prose+prose+`</blockquote><div class=data>
		<table><tr><td class="cell label">Comments:<td class="cell comments mathjax">22 pages, 6 figures<tr><td>Subjects:<td>
		Analysis</table></div></div>`, "22 pages|Analysis", "")
	checkText(t, `<main>`+prose+prose+`<div class=TalkbacksComponent><div class=talkback>At last it comes</div></div><div
		class=_sns><ul><li>印刷する</ul></div><div class="block upsell"><b>Others</b><div><a href=1>Copper pan</a> $ 12</div>
		</div></main>`, "The lock", "At last|印刷|Others|Copper")
	checkText(t, `<pre>`+words10+words10+words10+`</pre><ul><li><b>Messages sorted by:</b> <a href=1>[ date ]</a></ul>`,
		"The lock", "sorted")
}

// Programs that write Markdown as HTML give each heading its own text as an id.
func TestIDsOfHeadingsTellNothing(t *testing.T) {
	checkText(t, `<body><h1>Policy</h1>`+prose+`<h2 id=cookies>What cookies we set</h2>`+prose+`<h3 id=login-menu>The login
		menu</h3>`+prose+`<dl><dt id=user-profile>A profile<dd>`+words10+`</dl><h3 class=sidebar-title id=x>Beside</h3>`+prose,
		"What cookies|The login menu|A profile", "Beside")
}

// What a paywall is called may be the offer, or what is behind it.
func TestWhatIsBehindAPaywallIsText(t *testing.T) {
	free := "<title>Swans</title><main><h1>Swans</h1><p>Free of charge.</p>" + strings.Repeat(prose, 8)
	checkText(t, free+`<div class="paywall js-paywall"><p>Subscribe for one euro to read all of it.</p>`+prose+`</div></main>`,
		"The lock", "Subscribe")
	checkText(t, free+`<div class=paywall><p>The rest of it.</p>`+strings.Repeat(prose, 5)+`</div></main>`,
		"The lock|The rest", "")
}

// A page of a firm is made of sections, of which the first may hold all sentences.
func TestSectionsBehindTheFirstAreText(t *testing.T) {
	about := `<h2>Why Acme</h2><div><div class=card><h3>Fast</h3><p>Starts at once <a href=1>More</a></div><div class=card><h3>Safe
		</h3><p>Nothing is lost</div></div>`
	hours := `<h2>Hours</h2><table><tr><td>Mon<td>9 to 5</table>`
	rest := `<section class=form><h2>Write to us</h2><form><input><button>Send</button></form></section><section class=new><h2>
		Elsewhere</h2><a href=1>One thing more</a> <a href=2>And another one</a></section>`
	hero := `<title>Acme</title><main><section class=hero><div><h1>Acme</h1>` + prose
	checkText(t, hero+`</div></section><section class=about>`+about+`</section><section>`+hours+`</section>`+rest+`</main>`,
		"The lock|Why Acme|Fast|Nothing|Hours|9 to 5", "Write|Elsewhere")
	checkText(t, `<title>Acme</title><div><div class="row a"><h1>Acme</h1>`+prose+`</div><div class="row b">`+hours+`</div><div
		class=else><h3>Other</h3><p>Words of others</div></div>`, "The lock|9 to 5", "Words of")
	checkText(t, hero+strings.Repeat(prose, 6)+`</div></section><section class=about>`+about+`</section></main>`,
		"The lock", "Why Acme")
}

// A kitchen's menu leads nowhere.
func TestMenusOfKitchensAreText(t *testing.T) {
	dish := func(name string) string {
		return `<div class=menu-item><div class=menu-item-title>` + name + `</div><div class=menu-item-description>With bread
			of the day, butter and salt</div></div>`
	}
	checkText(t, `<title>Inn</title><nav class=menu><a href=1>Home</a></nav><div id=content><h1>Inn</h1>`+prose+`<div class=menu>
		<div class=menu-section>`+dish("Pea soup")+dish("Herring")+`</div></div><div class=menu-toggle>Open the menu</div><ul
		class=menu><li class=menu-item><a href=1>Where you find us</a><li class=menu-item><a href=2>Rooms for the night</a></ul>
		</div>`, "The lock|Pea soup|With bread|Herring", "Home|Open|Where|Rooms")
}

// Answers are hidden until somebody clicks on the question.
func TestAnswersThatOpenAreText(t *testing.T) {
	checkText(t, `<main><h1>Questions</h1><div><button aria-expanded=false>How long does it take?</button><div hidden><p>Two days at
		most. `+words10+`</div></div><h3><button aria-expanded=false aria-controls=b>Is there any shop?</button></h3> <div id=b
		style="display:none"><p>In the brewery.</p><p hidden>Not there</div><div hidden>Nor there</div><button
		aria-expanded=false>More</button><div hidden>Of it</div>`+prose+`</main>`,
		"How long|Two days|any shop|In the brewery", "Not there|Nor there|Of it")
}

// What people advertise is what the page is about.
func TestPartsOfSmallAdsAreText(t *testing.T) {
	checkText(t, `<title>Boat | Ads</title><main><div class=ad-view><h1 class=ad-title>Boat</h1><div class=ad-price>450 €</div><dl
		class=adAttributes><dt>Wood<dd>larch</dl><div class=ad-description>`+prose+`</div></div><div class=ad-slot>Tea
		of the best</div></main>`, "Boat|450|larch|The lock", "Tea")
}

// Links to reviews and lists of wishes make the head of a small page of a product no box of links: it has the title.
func TestTheHeadOfASmallProductIsText(t *testing.T) {
	checkText(t, `<title>Kettle</title><main><div class=columns><div class=product-main><div><h1>Kettle</h1></div><div><a
		href=1>Be the first to review this product</a></div><div class=price>$ 89.00</div><div class=stock>In stock</div><div><a
		href=2>Add it to the list of wishes</a></div></div><div class=detailed><p>`+words10+`</p></div></div></main>`,
		"Kettle|89.00|In stock|The lock", "")
}

func TestTwoLineBreaksEndAParagraph(t *testing.T) {
	for doc, want := range map[string]string{
		`<td>one<br>two<br><br>three <br/> <br> <br>four`:             "one\ntwo\nthree\nfour",
		`<p class=footer>one<br><br>two</p><p>three four five six se`: "three four five six se",
		`<h2>one<BR><!-- - --><BR>two</h2><br><br>three`:              "one\ntwo\nthree",
	} {
		if got := parseHTML(t, doc).Text; got != want {
			t.Errorf("%s\n got %q\nwant %q", doc, got, want)
		}
	}
}

// Beside a paragraph, a part of short lines without links is text as well: opening hours, measures.
func TestShortLinesBesideAParagraphAreText(t *testing.T) {
	lines := strings.Repeat("<div>Monday</div><div>nine to noon and by word</div>", 6) +
		"<div>Holidays</div><div>closed all day</div>"
	more := `<section class=cards><h2>From the yard</h2><div><a href=1><h3>Kettles</h3></a><div>Copper and tin</div></div><div><a
		href=2><h3>Ropes</h3></a><div>Hemp and jute</div></div><div><a href=3><h3>Lamps</h3></a><div>Oil or gas</div></div><div><a
		href=4><h3>Sails</h3></a><div>Flax and wool</div></div></section>`
	for _, frame := range []string{"<main>|</main>", "<main><div class=w>|</div></main>", "<div class=outer>|</div>"} {
		before, after, _ := strings.Cut(frame, "|")
		checkText(t, `<header><nav><a href=1>Home</a></nav></header>`+before+`<section>`+prose+`</section><section class=hours><h2>
			When we open</h2>`+lines+`</section>`+more+after, "The lock|When we open|nine to noon|Holidays|closed all day", "Kettles|Hemp")
	}
}
