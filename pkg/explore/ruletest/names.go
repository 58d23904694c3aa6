package ruletest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ErrIndex says that a page has no such element.
var ErrIndex = errors.New("the page has no element with that index: it has changed since the outline was made")

// noURL lets rules without conditions match.
var noURL weburl.URL

// maxSteps bounds the path of an element.
const maxSteps = 8

// pathTo is the path of an element by steps, from the root or at most maxSteps up.
func pathTo(n *html.Node, step func(*html.Node) string) string {
	var steps []string
	for ; n != nil && n.Type == html.ElementNode && len(steps) < maxSteps; n = n.Parent {
		steps = append(steps, step(n))
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

// step is the tag of an element with its number among its like, where there are others.
func step(n *html.Node) string {
	if elements.Tag(n) == elements.AnyTag {
		return child(n)
	}
	at, of := elements.NumberOf(n, func(s *html.Node) bool { return s.Data == n.Data })
	if of == 1 {
		return elements.Tag(n)
	}
	return fmt.Sprintf("%s:nth-of-type(%d)", elements.Tag(n), at)
}

// child is the number of an element among its siblings: it works for names that no selector can have.
func child(n *html.Node) string {
	at, _ := elements.NumberOf(n, func(*html.Node) bool { return true })
	return fmt.Sprintf("*:nth-child(%d)", at)
}

// simple is an element by its tag, with a class where it has a good one, else with its number.
func simple(n *html.Node) string {
	if classes := elements.Tokens(n, "class"); len(classes) > 0 {
		return elements.Tag(n) + "." + elements.CSSName(classes[0])
	}
	return step(n)
}

// anchorOf is the nearest element around another that has an id, a class or a meaning of its own; empty: none.
func anchorOf(n *html.Node) string {
	for p := n.Parent; p != nil && p.Type == html.ElementNode; p = p.Parent {
		if id := elements.Tokens(p, "id"); len(id) > 0 {
			return "#" + elements.CSSName(id[0])
		}
		if name, value := elements.MeantBy(p); name != "" && name != "role" {
			return elements.ByMeaning(name, value)
		}
		if classes := elements.Tokens(p, "class"); len(classes) > 0 {
			return elements.Tag(p) + "." + elements.CSSName(classes[0])
		}
	}
	return ""
}

// attrFor is the attribute that has what an element is about; empty: its text has.
func attrFor(n *html.Node) string {
	wanted := map[string]string{"meta": "content", "img": "src", "source": "src", "video": "src", "audio": "src",
		"iframe": "src", "time": "datetime", "input": "value", "link": "href", "base": "href"}[n.Data]
	if wanted == "" || elements.Attr(n, wanted) == "" {
		return ""
	}
	return wanted
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameFor is a name for a field of an element.
func nameFor(n *html.Node) string {
	_, name := elements.MeantBy(n)
	for _, attr := range []string{"id", "class"} {
		if words := elements.Tokens(n, attr); name == "" && len(words) > 0 {
			name = words[0]
		}
	}
	if name == "" {
		_, name = labelOf(n)
	}
	if notInName.ReplaceAllString(strings.ToLower(name), "") == "" {
		name = n.Data
	}
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name = strings.Trim(name[:min(len(name), 32)], "_"); name == "" {
		return "field"
	}
	return name
}
