package textsearch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query.
const (
	MaxQuery = 500 // bytes
	MaxWords = 32
	maxWord  = 100 // bytes of a word that is searched for
	minStart = 2   // letters before a star: fewer begin too many words
)

// ErrQuery is that a query cannot be read. Its text says why, for people.
var ErrQuery = errors.New("the search cannot be read")

func fault(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrQuery, fmt.Sprintf(format, args...))
}

// Field is where a word is looked for; "" is everywhere.
type Field string

// The fields.
const (
	Title Field = "title"
	Text  Field = "text"
	URL   Field = "url"
)

// site and lang narrow a query and are no fields: the first stands for words of the URL side by side, the second for
// the language of the page.
const (
	site = "site"
	lang = "lang"
)

// Term is a word, or words side by side.
type Term struct {
	Field Field
	Words []string // at least one
	Start bool     // the last is the beginning of a word
}

// Query is a search that was read: of each clause of All one term must be found, of Not none may be. All has one at
// least.
type Query struct {
	All [][]Term
	Not []Term
	// Lang is the language that pages are to be in, as lang:de says it; empty: any.
	Lang string
}

// Language is the language that pages are to be in, where a filter beside the query names one as well; empty: any.
func (q *Query) Language(filter string) (string, error) {
	switch {
	case q == nil || q.Lang == "":
		return filter, nil
	case filter != "" && !strings.EqualFold(filter, q.Lang):
		return "", fault("lang:%s, and the filter says %q: no page is in two languages", q.Lang, filter)
	}
	return q.Lang, nil
}

// Parse reads a query; an error is ErrQuery.
func Parse(text string) (*Query, error) {
	if len(text) > MaxQuery {
		return nil, fault("it has %d bytes, and may have %d", len(text), MaxQuery)
	}
	if !utf8.ValidString(text) {
		return nil, fault("it is no UTF-8")
	}
	p := &parser{rest: straight(text), q: &Query{}}
	for {
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		if p.rest == "" {
			return p.end()
		}
		if err := p.step(); err != nil {
			return nil, err
		}
	}
}

// straight is a query with the quotation marks that telephones and word processors type as those of a keyboard. Where
// one is missing they are no quotation marks, but those of inches, say.
func straight(text string) string {
	if out := curly.Replace(text); strings.Count(out, `"`)%2 == 0 {
		return out
	}
	return text
}

var curly = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "＂", `"`)

type parser struct {
	rest  string
	q     *Query
	words int
	or    bool // the next term is another choice of the last clause
	not   bool // the next term is to be left out
	last  bool // the last term is a clause, which OR may join
}

func (p *parser) end() (*Query, error) {
	switch {
	case p.or:
		return nil, fault("OR stands between two words")
	case p.not:
		return nil, fault("NOT stands before a word")
	case len(p.q.All) == 0:
		return nil, fault("say a word that pages have: lang: and words to leave out only narrow what it finds")
	}
	return p.q, nil
}

// step reads an operator or a term.
func (p *parser) step() error {
	if op := p.operator(); op != "" {
		return p.operate(op)
	}
	minus := len(p.rest) > 1 && p.rest[0] == '-' && !startsApart(p.rest[1:])
	if minus {
		p.rest = p.rest[1:]
	}
	p.rest = lowerField(p.rest)
	if rest, ok := strings.CutPrefix(p.rest, lang+":"); ok {
		p.rest = rest
		return p.language(minus)
	}
	if err := p.brackets(p.not || minus); err != nil {
		return err
	}
	t, err := p.term()
	if err != nil || len(t.Words) == 0 {
		return err
	}
	if p.words += len(t.Words); p.words > MaxWords {
		return fault("it has more than %d words", MaxWords)
	}
	not := p.not || minus
	p.not = false
	return p.add(t, not)
}

// brackets refuses words in brackets where these would say another thing than the words without. Elsewhere they are
// left out: (a OR b) c is a OR b c.
func (p *parser) brackets(not bool) error {
	field, rest, ok := strings.Cut(p.rest, "(")
	inner, after, closed := strings.Cut(rest, ")")
	words := strings.Fields(inner)
	if !ok || !closed || len(words) < 2 || strings.ContainsAny(inner, `"(`) {
		return nil
	}
	choice := true // all of it is joined by OR
	for i, w := range words {
		choice = choice && (w == "OR") == (i%2 == 1)
	}
	next := strings.Fields(after)
	switch {
	case slices.Contains([]string{"title:", "text:", "url:", "site:"}, field):
		return fault("%s goes with a word or a phrase, not with brackets: write it before each word", field)
	case field != "":
		return nil
	case not:
		return fault("brackets leave nothing out: write - before each word")
	case !choice && (p.or || len(next) > 0 && next[0] == "OR"):
		return fault("OR joins words and phrases, and no brackets with several words")
	}
	return nil
}

// lowerField writes a field's name in small letters: phones begin what is typed with a capital.
func lowerField(rest string) string {
	name, _, ok := strings.Cut(rest, ":")
	names := []Field{Title, Text, URL, site, lang}
	if lower := strings.ToLower(name); ok && slices.Contains(names, Field(lower)) {
		return lower + rest[len(name):]
	}
	return rest
}

// language reads the code behind lang:.
func (p *parser) language(minus bool) error {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && r != '-' })
	if end < 0 {
		end = len(p.rest)
	}
	code := strings.ToLower(p.rest[:end])
	p.rest = p.rest[end:]
	switch {
	case len(code) < 2 || len(code) > 20:
		return fault("lang: wants the code of a language right behind it, such as lang:de")
	case minus || p.not || p.or:
		return fault("lang: narrows the whole search: it stands without NOT and OR")
	case p.q.Lang != "" && p.q.Lang != code:
		return fault("lang:%s and lang:%s: no page is in two languages", p.q.Lang, code)
	}
	p.q.Lang, p.last = code, false
	return nil
}

// startsApart reports whether what follows a minus is none of a term: it is a dash between words then.
func startsApart(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsSpace(r) || r == '-'
}

func (p *parser) operator() string {
	for _, op := range []string{"OR", "AND", "NOT"} {
		after, ok := strings.CutPrefix(p.rest, op)
		if r, _ := utf8.DecodeRuneInString(after); ok && (after == "" || unicode.IsSpace(r)) {
			p.rest = after
			return op
		}
	}
	return ""
}

func (p *parser) operate(op string) error {
	switch {
	case p.or || p.not && op != "NOT" || op != "NOT" && len(p.q.All)+len(p.q.Not) == 0:
		return fault(`%s stands where a word is missing; the word itself is searched for as "%s"`, op, strings.ToLower(op))
	case op == "NOT":
		p.not = true
	case op == "OR" && !p.last:
		return fault("OR joins words that pages have, not those to leave out")
	case op == "OR":
		p.or = true
	}
	return nil
}

func (p *parser) add(t Term, not bool) error {
	switch {
	case p.or && not:
		return fault("OR joins words that pages have, not those to leave out")
	case not:
		p.q.Not, p.last = append(p.q.Not, t), false
		return nil
	case p.or:
		n := len(p.q.All) - 1
		p.q.All[n] = append(p.q.All[n], t)
	default:
		p.q.All = append(p.q.All, []Term{t})
	}
	p.or, p.last = false, true
	return nil
}

// term reads a term. One without a word, such as a dash, is none.
func (p *parser) term() (t Term, err error) {
	if t.Field, err = p.field(); err != nil {
		return t, err
	}
	var text string
	if rest, ok := strings.CutPrefix(p.rest, `"`); ok {
		if text, rest, ok = strings.Cut(rest, `"`); !ok {
			return t, fault("a quotation mark is not closed")
		}
		if p.rest, t.Start = strings.CutPrefix(rest, "*"); strings.Contains(text, "*") {
			return t, fault("a star stands at the end of a word, or behind the closing quotation mark")
		}
	} else {
		end := strings.IndexFunc(p.rest, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(p.rest)
		}
		text, p.rest = p.rest[:end], p.rest[end:]
		text, t.Start = strings.CutSuffix(strings.TrimRight(text, "().,;:!?"), "*")
	}
	Words(text, func(word string, _, _ int) bool {
		t.Words = append(t.Words, word)
		return true
	})
	return t, t.check(text)
}

func (t *Term) check(text string) error {
	for _, w := range t.Words {
		if len(w) > maxWord {
			return fault("a word has %d bytes, and may have %d", len(w), maxWord)
		}
	}
	switch n := len(t.Words); {
	case n == 0 && t.Field != "":
		return fault("%s: wants a word right behind it", t.Field)
	case n == 0 && t.Start:
		return fault("a star wants the beginning of a word before it")
	case strings.Contains(text, "*"):
		return fault("a star stands at the end of a word only")
	case t.Start && len(t.Words[n-1]) < minStart:
		return fault("%s* begins too many words: give %d letters at least", t.Words[n-1], minStart)
	}
	return nil
}

// field reads the name of a field. What looks like one and is none is an error, unless it may be text: a URL, a time.
func (p *parser) field() (Field, error) {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r < 'a' || r > 'z' })
	if end <= 0 || p.rest[end] != ':' {
		return "", nil
	}
	switch name, rest := Field(p.rest[:end]), p.rest[end+1:]; name {
	case Title, Text, URL:
		p.rest = rest
		return name, nil
	case site:
		p.rest = rest
		return URL, nil
	default:
		if r, n := utf8.DecodeRuneInString(rest); n == 0 || r != '"' && !unicode.IsLetter(r) {
			return "", nil
		}
		return "",
			fault("there is no field %q: title, text, url, site and lang are; in quotation marks it is searched for as text",
				name)
	}
}
