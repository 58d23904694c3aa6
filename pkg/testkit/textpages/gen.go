// Package textpages makes web pages whose main text is known, as every piece of text is labelled when it is written.
//
// Its duties: write pages in the manner of families of sites (news, blogs, forums, shops, documentation …), with
// structure, class names, languages and lengths drawn from a seed; say of each page what its main text is. Families are
// for training or for testing. Those for testing draw class names, phrases and languages from pools of their own, so
// that a list of words that knows the training pages does not know them. The package must never read a page from
// anywhere, and it knows nothing of the parser.
package textpages

import (
	"bytes"
	"html"
	"math/rand/v2"
	"strings"
)

// Page is a page and what is known of it.
type Page struct {
	HTML     []byte
	Main     string   // the main text; words are in the order of the page
	Optional []string // lines such as the headline that main text may have or lack: neither right nor wrong
}

// Family is a kind of page.
type Family struct {
	Name  string
	Test  bool // not to be looked at while the parser is tuned
	write func(*gen)
}

// Page makes the page of a seed.
func (f Family) Page(seed uint64) Page {
	h := uint64(14695981039346656037)
	for _, c := range []byte(f.Name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	g := &gen{rng: rand.New(rand.NewPCG(h, seed)), test: f.Test, names: map[string]string{}}
	g.lang = g.language()
	g.scheme = [...]scheme{plain, plain, plain, bem, modules}[g.n(0, 4)]
	f.write(g)
	return Page{HTML: g.b.Bytes(), Main: g.mainText.String(), Optional: g.optional}
}

// scheme is how a site names its classes.
type scheme int

const (
	plain    scheme = iota // words from the pools
	bem                    // block__element
	modules                // Name_part__hash
	hashed                 // css-1a2b3c
	tailwind               // utilities
	bare                   // none
)

type mode int

const (
	other mode = iota
	inMain
	neutral
)

type gen struct {
	b        bytes.Buffer
	mainText strings.Builder
	optional []string
	rng      *rand.Rand
	lang     *lang
	names    map[string]string // class of a role on this page
	scheme   scheme
	mode     mode
	test     bool
}

// n is a number from lo to hi.
func (g *gen) n(lo, hi int) int { return lo + g.rng.IntN(hi-lo+1) }

// chance is true in so many of a hundred cases.
func (g *gen) chance(percent int) bool { return g.rng.IntN(100) < percent }

func pick[T any](g *gen, of ...T) T { return of[g.rng.IntN(len(of))] }

// raw writes markup.
func (g *gen) raw(s string) { g.b.WriteString(s) }

// text writes text and labels it.
func (g *gen) text(s string) {
	g.b.WriteString(html.EscapeString(s))
	if g.mode == inMain {
		g.mainText.WriteString(s)
		g.mainText.WriteByte('\n')
	}
}

// in writes an element around what f writes.
func (g *gen) in(tag, role string, f func()) {
	g.raw("<" + tag + g.class(role) + ">")
	f()
	name, _, _ := strings.Cut(tag, " ")
	g.raw("</" + name + ">")
	if g.chance(50) {
		g.raw("\n")
	}
}

// el writes an element with text.
func (g *gen) el(tag, role, text string) { g.in(tag, role, func() { g.text(text) }) }

// opt writes an element whose text may be in the main text or not.
func (g *gen) opt(tag, role, text string) {
	g.optional = append(g.optional, strings.Join(strings.Fields(text), " "))
	g.with(neutral, func() { g.el(tag, role, text) })
}

func (g *gen) with(m mode, f func()) {
	before := g.mode
	g.mode = m
	f()
	g.mode = before
}

// main labels what f writes as main text, aside as no main text.
func (g *gen) main(f func())  { g.with(inMain, f) }
func (g *gen) aside(f func()) { g.with(other, f) }

func (g *gen) link(text string) { g.in("a href=\"/"+g.word()+"\"", "", func() { g.text(text) }) }

const digits = "abcdefghijklmnopqrstuvwxyz0123456789"

func (g *gen) hash(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[g.rng.IntN(len(digits))]
	}
	return string(b)
}

// class writes the attribute of an element of that role: the same one each time on one page.
func (g *gen) class(role string) string {
	if role == "" || g.scheme == bare {
		return ""
	}
	name, ok := g.names[role]
	if !ok {
		name = g.className(role)
		g.names[role] = name
	}
	if name == "" {
		return ""
	}
	return " class=\"" + name + "\""
}

func (g *gen) className(role string) string {
	if strings.HasPrefix(role, "=") {
		return role[1:] // literally
	}
	word := role
	if p, ok := pools[role]; ok {
		word = pick(g, p.of(g.test)...)
	}
	switch g.scheme {
	case bem:
		return pick(g, "c-", "o-", "m-", "") + strings.ReplaceAll(word, " ", "__")
	case modules:
		parts := strings.FieldsFunc(word, func(r rune) bool { return r == '-' || r == ' ' || r == '_' })
		return strings.ToUpper(parts[0][:1]) + parts[0][1:] + "_" + parts[len(parts)-1] + "__" + g.hash(5)
	case hashed:
		return pick(g, "css-", "sc-", "jsx-", "_") + g.hash(6)
	case tailwind:
		return strings.Join([]string{pick(g, "flex", "grid", "block"), pick(g, "mt-4", "mt-8", "my-6"),
			pick(g, "px-4", "p-2", "space-y-4"), pick(g, "text-gray-700", "text-sm", "max-w-prose")}, " ")
	}
	return word
}
