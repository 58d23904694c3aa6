package parser

import (
	"strings"
	"testing"
	"time"
)

func TestPartsThatAreStreamedStandInTheirPlaces(t *testing.T) {
	const rc = `<script>$RC=function(b,c){};$RC("B:0","S:0")</script>`
	for doc, want := range map[string]string{
		`<main><h1>Chair</h1><!--$?--><template id="B:0"></template><p>Loading …</p><!--/$--><p>End</p></main>` +
			`<div hidden id="S:0"><div><p>It is of oak</p></div></div>` + rc + `<div hidden>no</div>`: "Chair\nIt is of oak\nEnd",
		// A boundary within the fallback, and one within a part.
		`<main><!--$?--><template id="B:0"></template><p>wait</p><!--$--><p>wait</p><!--/$--><!--/$--><p>End</p></main>` +
			`<div hidden id="S:0"><p>one</p><!--$?--><template id="B:1"></template>wait<!--/$--><p>three</p></div>` + rc +
			`<div hidden id="S:3"><p>two</p></div><script>$RB=[];$RC("B:1","S:3")</script>`: "one\ntwo\nthree\nEnd",
		// Gaps, rows of a table, style sheets to wait for, calls that are in templates.
		`<main><p>one</p><template id="P:1"></template></main><div hidden id="S:1"><p>two</p></div>` +
			`<script>$RS=function(a,b){};$RS("S:1","P:1")</script>`: "one\ntwo",
		`<table><tbody><tr><td>one</td></tr><!--$?--><template id="B:0"></template><!--/$--></tbody></table>` +
			`<table hidden><tbody id="S:0"><tr><td>two</td></tr></tbody></table>` + rc: "one\ntwo",
		`<main><!--$?--><template id="B:a"></template>wait<!--/$--></main><div hidden id="S:1f"><p>one</p></div>` +
			`<script>$RR=function(){};$RR("B:a","S:1f",[["/a.css","x"]])</script>`: "one",
		`<main><!--$?--><template id="B:0"></template>wait<!--/$--></main><div hidden id="S:0"><p>one</p></div>` +
			`<template data-rci="" data-bid="B:0" data-sid="S:0"></template>`: "one",
		// What nobody moves, has no place, or lies in its own stays.
		`<main><p>one</p></main><div hidden id="S:0"><p>two</p></div>`:                               "one",
		`<main><p>one</p></main><div hidden id="S:0"><p>two</p></div>` + rc:                          "one",
		`<p>one</p><div hidden id="S:0"><template id="B:0"></template><p>two</p></div>` + rc:         "one",
		`<p>one</p><!--$?--><template id="B:0"></template>wait` + rc + `<div hidden id="S:0"><p>two`: "one\ntwowait",
	} {
		if r := parseHTML(t, doc); r.Text != want {
			t.Errorf("%s\n got %q\nwant %q", doc, r.Text, want)
		}
	}
}

func TestManyStreamedPartsTakeNoLongTime(t *testing.T) {
	parts := strings.Repeat(`<template id="B:0"></template><!--$?--><div id="S:0"><p>x`, 20_000)
	calls := strings.Repeat(`$RC("B:0","S:0");$RC("B:1","S:1")`, 20_000)
	at := time.Now()
	parseHTML(t, parts+`<script>`+calls+`</script>`)
	if took := time.Since(at); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
