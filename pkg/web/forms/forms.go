// Package forms finds a form in an HTML page and what a browser would send with it.
package forms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/selector"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of a form.
const (
	maxFields = 1000
	maxValue  = 64 << 10
)

// Form is a form with the values that it came with.
type Form struct {
	Action weburl.URL // where it is sent
	Post   bool
	Values url.Values // of the fields that a browser would send, hidden ones too
	names  map[string]bool
}

// Has reports whether the form has a field of that name, filled in or not.
func (f *Form) Has(name string) bool { return f.names[name] }

// Page is a parsed page.
type Page struct {
	root *html.Node
	base weburl.URL
	text string // folded; empty: not made yet
}

// Parse parses a page that was fetched from a URL. contentType may name its encoding.
func Parse(body []byte, contentType string, from weburl.URL) (*Page, error) {
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if errors.Is(err, io.EOF) { // there is nothing in it
		r, err = bytes.NewReader(nil), nil
	}
	if err != nil {
		return nil, fmt.Errorf("the page's encoding: %w", err)
	}
	root, err := html.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("the page is no HTML: %w", err)
	}
	p := &Page{root: root, base: from}
	if base := cascadia.Query(root, baseTag); base != nil {
		if u, err := from.Resolve(attr(base, "href")); err == nil {
			p.base = u
		}
	}
	return p, nil
}

var (
	baseTag  = cascadia.MustCompile("base[href]")
	password = cascadia.MustCompile("input[type=password i]")
	formTag  = cascadia.MustCompile("form")
	controls = cascadia.MustCompile("input, select, textarea, button")
	chosen   = cascadia.MustCompile("option[selected]")
	option   = cascadia.MustCompile("option")
)

// Matches reports whether a CSS selector matches anything. One that cannot be read matches nothing.
func (p *Page) Matches(css string) bool {
	s, err := selector.Parse(css)
	return err == nil && cascadia.Query(p.root, s) != nil
}

// AsksForPassword reports whether there is a field for a password.
func (p *Page) AsksForPassword() bool { return cascadia.Query(p.root, password) != nil }

// Contains reports whether a text is in the page, however its white space is.
func (p *Page) Contains(text string) bool {
	if p.text == "" {
		var b strings.Builder
		for n := range p.root.Descendants() {
			if n.Type == html.TextNode && !unseen(n.Parent) {
				b.WriteString(n.Data)
				b.WriteByte(' ')
			}
		}
		p.text = fold(b.String())
	}
	return strings.Contains(p.text, fold(text))
}

func unseen(n *html.Node) bool { return n != nil && (n.Data == "script" || n.Data == "style") }

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Find finds the form that a selector names, or that has it; the first that asks for a password where it is empty.
func (p *Page) Find(css string) (*Form, error) {
	var found *html.Node
	if css != "" {
		s, err := selector.Parse(css)
		if err != nil {
			return nil, fmt.Errorf("%q is no CSS selector: %w", css, err)
		}
		if found = cascadia.Query(p.root, s); found == nil {
			return nil, fmt.Errorf("nothing in the page matches %q", css)
		}
	} else if found = cascadia.Query(p.root, password); found == nil {
		return nil, errors.New("no form of the page asks for a password")
	}
	for found != nil && !formTag.Match(found) {
		found = found.Parent
	}
	if found == nil {
		return nil, errors.New("what was found stands in no form")
	}
	return p.read(found)
}

func (p *Page) read(n *html.Node) (*Form, error) {
	f := &Form{Action: p.base, Post: strings.EqualFold(strings.TrimSpace(attr(n, "method")), "post"), Values: url.Values{},
		names: map[string]bool{}}
	if enctype := attr(n, "enctype"); enctype != "" && !strings.EqualFold(enctype, "application/x-www-form-urlencoded") {
		return nil, errors.New("the form is sent as " + cut(enctype) + ", which is not supported")
	}
	if action := strings.TrimSpace(attr(n, "action")); action != "" {
		u, err := p.base.Resolve(action)
		if err != nil || u.IsForeign() {
			return nil, errors.New("the form leads to no http or https URL")
		}
		f.Action = u
	}
	submitted := false
	for i, c := range cascadia.QueryAll(n, controls) {
		if i >= maxFields {
			return nil, fmt.Errorf("the form has more than %d fields", maxFields)
		}
		f.add(c, &submitted)
	}
	return f, nil
}

// add adds a control's value as a browser would, with the first button as the one that is pressed.
func (f *Form) add(n *html.Node, submitted *bool) {
	name := attr(n, "name")
	if name == "" || has(n, "disabled") {
		return
	}
	f.names[name] = true
	value := attr(n, "value")
	switch kind := strings.ToLower(attr(n, "type")); {
	case n.Data == "select":
		value = selected(n)
	case n.Data == "textarea":
		value = text(n)
	case n.Data == "button" && kind != "" && kind != "submit", n.Data == "input" &&
		(kind == "button" || kind == "reset" || kind == "file" || kind == "image"):
		return
	case n.Data == "button" || kind == "submit":
		if *submitted {
			return
		}
		*submitted = true
	case kind == "checkbox" || kind == "radio":
		if !has(n, "checked") {
			return
		}
		if !has(n, "value") {
			value = "on"
		}
	}
	if len(value) <= maxValue {
		f.Values.Add(name, value)
	}
}

func selected(n *html.Node) string {
	o := cascadia.Query(n, chosen)
	if o == nil {
		if o = cascadia.Query(n, option); o == nil {
			return ""
		}
	}
	if has(o, "value") {
		return attr(o, "value")
	}
	return fold(text(o))
}

func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func cut(s string) string {
	const most = 60
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
