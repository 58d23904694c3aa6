// Package marks tells from a page's bytes whether scripts may make more of it, and which pages look alike.
//
// Its duties, in order:
//
//  1. Score the page by cheap marks; a page of Enough points is a candidate for a render.
//  2. Name its template: pages of one template are made by one program, so what a render of one brings tells of the
//     others.
//
// It only reads: no scripts run here. Whether a render pays is decided by package decide.
package marks

import (
	"bytes"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Enough is the score of a candidate.
const Enough = 3

// OwnScript is the mark of a page with a script of its own site, or one that asks a server: it may do anything.
const OwnScript = "own-script"

// Page is what the parser knows of a page of HTML.
type Page struct {
	URL   weburl.URL
	Body  []byte
	Text  int // octets of its main text
	Links int // links to its own host
}

// Seen is what Look found.
type Seen struct {
	Score    int
	Marks    []string // their names, in the order of the table in docs/design/rendering.md
	Template uint64   // hash of Shape and of the scripts that the page loads
	Shape    string   // the path with its changing parts replaced, for people
	Scripts  bool     // there is any
}

// Candidate reports whether the page may gain.
func (s *Seen) Candidate() bool { return s.Scripts && s.Score >= Enough }

// The limits below which a page is thin. They are ours.
const (
	thinText  = 200     // octets of text that a page made by scripts may have: a title, "Loading …"
	thinMount = 50      // octets of text in an element that an application fills
	bigHTML   = 5 << 10 // octets of HTML that should have more text than a hundredth of it
)

// Look reads a page.
func Look(p Page) Seen {
	r := reader{site: p.URL.RegistrableDomain()}
	r.read(p.Body)
	seen := Seen{Scripts: r.scripts > 0}
	add := func(yes bool, points int, name string) {
		if yes {
			seen.Score += points
			seen.Marks = append(seen.Marks, name)
		}
	}
	text := max(p.Text, 0)
	add(r.mountEmpty, 4, "empty-mount")
	add(text < thinText && r.sources > 0, 3, "thin")
	add(text < thinText && r.sources == 0 && r.scripts > 0, 2, "thin-inline")
	add(len(p.Body) > bigHTML && text*100 < len(p.Body), 1, "little-text")
	add(r.noscript, 3, "noscript")
	add(p.Links == 0, 2, "no-links")
	add(r.framework, 2, "framework")
	add(r.hashBang, 1, "hash-bang")
	add(r.writes, 2, "writes")
	add(r.hollow, 2, "hollow")
	add(r.sources > 0 || r.asks, 1, "script")
	add(r.own || r.asks, 0, OwnScript)
	add(r.state && text >= thinText, -3, "state")
	seen.Shape = Shape(p.URL)
	seen.Template = templateOf(seen.Shape, r.names)
	return seen
}

// reader gathers what is in a page.
type reader struct {
	site             string // of the page
	own              bool   // a script lies on it
	scripts, sources int
	names            []string // of the scripts, with what changes from page to page left out
	framework        bool
	noscript         bool
	hashBang         bool
	writes, asks     bool // an inline script writes to the document, or asks a server
	leads            bool // an inline script puts another address in the place of the page's
	hollow           bool // an element with an id, made to hold a list or a view, is empty
	mountEmpty       bool
	state            bool // the page carries the data that it shows
	text             int  // octets of text outside of what is not shown
	missing          bool // it says, or its title does, that it was not found

	open element // the mount or hollow element that is open
}

// element is one that is watched until it ends.
type element struct {
	tag   htmlscan.Tag
	name  string // tells those apart that have no tag of their own
	depth int    // of elements of that name inside, itself included; 0: none is watched
	text  int    // octets of text in it
	inner int    // elements in it
	mount bool
}

// is reports whether the tag that was just read is one of the element's name.
func (e *element) is(s *htmlscan.Scanner) bool {
	return s.Tag() == e.tag && (e.tag != htmlscan.Other || strings.EqualFold(string(s.Name()), e.name))
}

func (r *reader) read(body []byte) {
	var s htmlscan.Scanner
	s.Reset(body)
	var inScript, inNoscript, inStyle, inTitle bool
	for {
		switch s.Next() {
		case htmlscan.End:
			return
		case htmlscan.Text:
			text, _ := s.Text()
			if !inScript && !inNoscript && !inStyle {
				r.words(text, inTitle)
			}
			switch {
			case inScript:
				r.inline(text)
			case inNoscript:
				r.noscript = r.noscript || asksForScripts(text)
			case r.open.depth > 0:
				r.open.text += len(bytes.TrimSpace(text))
			}
		case htmlscan.StartTag:
			tag := s.Tag()
			inScript, inStyle, inTitle = tag == htmlscan.Script, tag == htmlscan.Style, tag == htmlscan.Title
			inNoscript = tag == htmlscan.Noscript || inNoscript && tag != htmlscan.Body
			if inNoscript && tag == htmlscan.Meta && attr(&s, "http-equiv") == "refresh" {
				r.noscript = true
			}
			r.start(&s)
		case htmlscan.EndTag:
			inScript, inStyle, inTitle = false, false, false
			inNoscript = inNoscript && s.Tag() != htmlscan.Noscript
			r.end(&s)
		}
	}
}

// start reads a start tag.
func (r *reader) start(s *htmlscan.Scanner) {
	switch s.Tag() {
	case htmlscan.Script:
		r.script(s)
	case htmlscan.Meta:
		if attr(s, "name") == "fragment" && attr(s, "content") == "!" {
			r.hashBang = true
		}
	case htmlscan.A:
		r.hashBang = r.hashBang || startsWith(s, "href", "#!")
	}
	if o := &r.open; o.depth > 0 {
		if o.inner++; o.is(s) && !s.SelfClosing() {
			o.depth++
		}
		return
	}
	if s.Tag() != htmlscan.Other && s.Attrs() == 0 {
		return // most elements
	}
	if mount := isMount(s); mount || isHolder(s) {
		r.open = element{tag: s.Tag(), name: string(s.Name()), depth: 1, mount: mount}
	}
}

// end reads an end tag.
func (r *reader) end(s *htmlscan.Scanner) {
	o := &r.open
	if o.depth == 0 || !o.is(s) {
		return
	}
	if o.depth--; o.depth > 0 {
		return
	}
	switch {
	case o.mount && o.text < thinMount:
		r.mountEmpty = true
	case !o.mount && o.text == 0 && o.inner == 0:
		r.hollow = true
	}
}

// script reads the tag of a script.
func (r *reader) script(s *htmlscan.Scanner) {
	kind := attr(s, "type")
	if strings.Contains(kind, "json") || kind == "importmap" || kind == "speculationrules" ||
		strings.HasPrefix(kind, "text/x-") {
		id := attr(s, "id")
		r.state = r.state || id == "__NEXT_DATA__" || id == "__NUXT_DATA__" || id == "ng-state" ||
			kind == "qwik/json" || kind == "application/ld+json"
		return // no program
	}
	r.scripts++
	src := attr(s, "src")
	if src == "" {
		return
	}
	r.sources++
	r.own = r.own || isOwn(src, r.site)
	if name := scriptName(src); len(r.names) < maxScripts {
		r.names = append(r.names, name)
	}
	r.framework = r.framework || isFramework(src)
}

// inline reads the text of an inline script.
func (r *reader) inline(text []byte) {
	r.state = r.state || contains(text, "__NEXT_DATA__", "__NUXT__", "__INITIAL_STATE__", "__APOLLO_STATE__",
		"__PRELOADED_STATE__", "__next_f", "__remixContext", "__reactRouterContext", "$_TSR")
	r.writes = r.writes || contains(text, "innerHTML", "insertAdjacentHTML", "document.write", "outerHTML",
		".replaceWith(", "attachShadow", "createElement('a')", `createElement("a")`, "createElement(`a`)",
		"createElement('li')", `createElement("li")`, "createElement(`li`)",
		"createElement('iframe')", `createElement("iframe")`, "cloneNode(", "setHTML", ".href =", ".href=", "'href'",
		`"href"`)
	r.asks = r.asks || contains(text, "fetch(", "XMLHttpRequest", "import(", "axios", "$.get", "location.hash", "$.ajax",
		"EventSource(")
	r.leads = r.leads || contains(text, "location") && contains(text, ".replace(")
	r.framework = r.framework || contains(text, "ReactDOM", "createApp(", "createRoot(", "Vue(", "new Ractive", "m.mount(",
		"angular.module", "Backbone.", "ko.applyBindings", "customElements.define", "htmx.", "Alpine.")
}

func contains(text []byte, needles ...string) bool {
	for _, n := range needles {
		if bytes.Contains(text, []byte(n)) {
			return true
		}
	}
	return false
}

// asksForScripts reports whether a text in a noscript element says that the page needs scripts. The name of the
// language is the same in most tongues.
func asksForScripts(text []byte) bool {
	t := bytes.ToLower(text)
	return contains(t, "javascript", "java script", "java-script", "ecmascript", "scripting", "スクリプト", "скрипт", "脚本",
		"자바스크립트")
}
