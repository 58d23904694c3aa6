package templates

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

// element is an element of a page that is made.
type element struct {
	tag   string
	attrs []string // names and values in turn
	kids  []any    // *element, string (a text), []any (several)
}

// e makes an element. attrs are written `class=price id=x`; a value has no spaces, but _ for them. Classes are named as
// the site names them.
func (p *page) e(tag, attrs string, kids ...any) *element {
	el := &element{tag: tag, kids: kids}
	for _, a := range strings.Fields(attrs) {
		name, value, _ := strings.Cut(a, "=")
		if name == "class" {
			value = p.site.class(value)
		} else {
			value = strings.ReplaceAll(value, "_", " ")
		}
		if value != "" || name != "class" {
			el.attrs = append(el.attrs, name, value)
		}
	}
	return el
}

// with adds an attribute with any value.
func (el *element) with(name, value string) *element {
	el.attrs = append(el.attrs, name, value)
	return el
}

var void = map[string]bool{"img": true, "meta": true, "link": true, "br": true, "hr": true, "input": true}

// render writes elements with their attributes in any order and white space as it comes.
func render(b *strings.Builder, rnd *rand.Rand, kid any, depth int) {
	switch k := kid.(type) {
	case nil:
	case string:
		b.WriteString(escaped(rnd, k))
	case []any:
		for _, x := range k {
			render(b, rnd, x, depth)
		}
	case *element:
		if k != nil {
			k.write(b, rnd, depth)
		}
	default:
		panic(fmt.Sprintf("a page cannot hold a %T", kid))
	}
}

func (el *element) write(b *strings.Builder, rnd *rand.Rand, depth int) {
	space := func() {
		if inlineTags[el.tag] {
			return
		}
		b.WriteString([]string{"", "\n", "\n" + strings.Repeat("  ", depth%12)}[rnd.IntN(3)])
	}
	space()
	b.WriteString("<" + el.tag)
	for _, i := range rnd.Perm(len(el.attrs) / 2) {
		quote := "\"'"[rnd.IntN(8)/7:][:1]
		value := strings.ReplaceAll(html.EscapeString(el.attrs[2*i+1]), "\n", "&#10;")
		fmt.Fprintf(b, " %s=%s%s%s", el.attrs[2*i], quote, value, quote)
	}
	b.WriteString(">")
	if void[el.tag] {
		return
	}
	if el.tag == "script" || el.tag == "style" {
		for _, k := range el.kids {
			b.WriteString(k.(string))
		}
	} else {
		render(b, rnd, el.kids, depth+1)
		space()
	}
	b.WriteString("</" + el.tag + ">")
}

// inlineTags are elements within which and around which white space would be seen.
var inlineTags = map[string]bool{"a": true, "span": true, "b": true, "strong": true, "em": true, "time": true,
	"del": true, "ins": true, "small": true, "button": true, "label": true, "sup": true, "title": true, "h1": true,
	"h2": true, "h3": true, "dt": true, "dd": true, "td": true, "th": true}

// escaped is a text in one of the ways that it can be written.
func escaped(rnd *rand.Rand, s string) string {
	s = html.EscapeString(s)
	if rnd.IntN(4) == 0 {
		s = strings.ReplaceAll(s, "ü", "&uuml;")
		s = strings.ReplaceAll(s, "é", "&#233;")
	}
	if rnd.IntN(6) == 0 {
		s = strings.Replace(s, " ", "\n      ", 1)
	}
	return s
}

// Ways to name classes.
const (
	plainNames  = iota // price
	blockNames         // product__price
	moduleNames        // Product_price__a8FqZ: CSS modules
	hashedNames        // css-1x8fa0q
	utilities          // text-lg font-bold mt-2, and nothing else
	namings
)

var utilityClasses = strings.Fields("text-lg font-bold mt-2 flex items-center px-4 py-2 text-sm text-gray-500 mb-4 " +
	"w-full rounded-md leading-6 grid gap-4")

// class is how the site writes a class in an attribute.
func (s *Site) class(name string) string {
	h := seedOf(fmt.Sprint(s.Family.Name, s.Number, name, s.build*7))
	code := func(n int) string {
		const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
		var b strings.Builder
		for range n {
			b.WriteByte(letters[h%uint64(len(letters))])
			h = h/7 + h<<3 + 11
		}
		return b.String()
	}
	switch s.naming {
	case plainNames:
		return name
	case blockNames:
		return "c-" + s.Family.Name + "__" + name
	case moduleNames:
		return strings.ToUpper(s.Family.Name[:1]) + s.Family.Name[1:] + "_" + name + "__" + code(5)
	case hashedNames:
		return "css-" + strings.ToLower(code(6)) + " " + code(7)
	}
	at := int(seedOf(s.Family.Name+name) % uint64(len(utilityClasses)-2))
	return strings.Join(utilityClasses[at:at+2+int(h%2)], " ")
}
