//go:build linux

package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// Where a click or a choice leads is a link, if the address stands in the page and asking for it changes nothing: what
// forms send by POST, and addresses that scripts only load from, are none.
func TestLinksOfButtonsAndMenus(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	s := &site{}
	got := s.renders(t, c, render.Request{Seed: true, Limits: small, Body: []byte(`<body>
		<form><input type=hidden name=a value=1><button formaction=/button>x</button><input type=submit formaction=/input></form>
		<form method=post><button formaction=/no1>x</button><button formmethod=get formaction=/get>x</button></form>
		<form action=/form><button formmethod=post formaction=/no2>x</button><button type=button formaction=/no3>x</button></form>
		<form><input name=q><button formaction=/no4>x</button></form><button formaction=/no5>x</button>
		<form id=f><input type=hidden name=form value=z></form><button form=f formaction=/outside>x</button>
		<div data-url=/dataset onclick="location=this.dataset.url">x</div><div data-url=/no6 onclick="load(this)">x</div>
		<a href="#" data-url=/no7>x</a><i data-to=/opened onclick="open(this.dataset.to)">x</i>
		<select onchange="location=this.value"><option value="">y<option value=/menu1>x<optgroup><option value=/menu2></select>
		<select onchange="if(this.value)window.location.href=this.value"><option value=none><option value=/menu3></select>
		<select onchange="show(this.value)"><option value=/no8></select>
		<script>const b=document.createElementNS("http://www.w3.org/2000/svg","button");b.setAttribute("formaction","/no9");
			document.body.append(b)</script>`)})
	var has []string
	for _, link := range got.Links {
		_, path, _ := strings.Cut(strings.TrimPrefix(link, "http://"), "/")
		has = append(has, path)
	}
	slices.Sort(has)
	const want = "# button?a=1 dataset form get input?a=1 menu1 menu2 menu3 opened outside?form=z"
	if strings.Join(has, " ") != want {
		t.Errorf("links are\n%s, want\n%s", strings.Join(has, " "), want)
	}
}
