// Package induce makes a site rule from examples: pages with the values that are wanted from them (wrapper induction).
//
// For each field it looks for the values in the pages, as texts, attributes or parts of these; derives selectors from
// the elements that have them; keeps those that give the wanted values on every example; and takes the one that is
// likely to last: by names rather than by places, once on a page rather than first of several, and in agreement with
// the others on pages of the same template that nobody labelled. There is no chance in it: the same pages give the same
// rule.
//
// What it must not do: give a rule that it has not applied to the examples as the crawl applies it.
package induce

import (
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of a question.
const (
	MaxExamples = 10
	MaxAlso     = 50
	MaxFields   = 50
	MaxValues   = 200       // of a field on a page
	MaxValue    = 16 << 10  // bytes of a value
	MaxPage     = 10 << 20  // bytes of a page
	maxElements = 200_000   // of a page
	maxLooks    = 6_000_000 // elements that a field's selectors are tried on, before the last are left out
)

// Page is a page of HTML in UTF-8.
type Page struct {
	Name string     // URL or file, for messages
	URL  weburl.URL // zero: unknown
	Body []byte
}

// Wanted are the values of a field on a page, in the order of the page. None: the page has no such value.
type Wanted struct {
	Field  string
	Values []string
	List   bool // the field is a list, though the page may have but one; so it is where an example has several
}

// Example is a page with what is wanted from it. Of a field that is not mentioned nothing is known there.
type Example struct {
	Page
	Want []Wanted
}

// Options are what else is known.
type Options struct {
	Name string       // of the rule; empty: "induced"
	Also []Page       // further pages of the template, without values
	Stop func() error // asked often: an error of it ends the work; nil: nobody asks
}

// Result is a rule, and what speaks for it.
type Result struct {
	Rule   crawl.SiteRule `json:"rule"`   // of the fields that were found
	Fields []Field        `json:"fields"` // all, in the order in which they were first wanted
	Also   int            `json:"also"`   // further pages that could be read
}

// Field is what was found of a field.
type Field struct {
	// its name alone where nothing was found
	Rule  crawl.FieldRule `json:"rule"`
	Found bool            `json:"found"`
	// what the selector goes by
	Why string `json:"why,omitempty"`
	// what people should know
	Notes []string `json:"notes,omitempty"`
	// what the rule takes from each example
	Values []Extracted `json:"values,omitempty"`
	// further pages that it takes something from
	OnAlso int `json:"on_also"`
	// of these, where it takes one value
	Once int `json:"once"`
	// part of the other selectors that take the same there, by weight; 0 to 1
	Agree float64 `json:"agree"`
	// selectors that would do as well on the examples, the best first
	Others []Other `json:"others,omitempty"`
	// values that no page has as they were given
	Lacks []Lack `json:"lacks,omitempty"`
}

// Extracted is what a rule takes from a page.
type Extracted struct {
	Page   string   `json:"page"`
	Values []string `json:"values"`
}

// Other is another selector of a field.
type Other struct {
	Rule crawl.FieldRule `json:"rule"`
	Why  string          `json:"why"`
}

// Lack is a value that was not found on an example.
type Lack struct {
	Page    string   `json:"page"`
	Value   string   `json:"value"`
	Nearest []string `json:"nearest,omitempty"` // texts of the page that are most like it
}

// ErrInvalid says that the question cannot be answered: what is wrong with it.
var ErrInvalid = errors.New("the examples are not as they should be")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// check refuses what is beyond the bounds.
func check(examples []Example, opt *Options) error {
	switch {
	case len(examples) == 0 || len(examples) > MaxExamples:
		return invalid("%d of them: give two to five, %d at most", len(examples), MaxExamples)
	case len(opt.Also) > MaxAlso:
		return invalid("%d further pages: at most %d are looked at", len(opt.Also), MaxAlso)
	}
	fields := fieldsOf(examples)
	if len(fields) == 0 || len(fields) > MaxFields {
		return invalid("%d fields: give one to %d", len(fields), MaxFields)
	}
	for i := range examples {
		for _, w := range examples[i].Want {
			if err := checkWanted(&examples[i], w); err != nil {
				return err
			}
		}
	}
	for _, name := range fields {
		if len(wantOf(examples, name)) == 0 {
			return invalid("field %q has no value on any example", name)
		}
	}
	return nil
}

func checkWanted(e *Example, w Wanted) error {
	switch {
	case w.Field == "" || len(w.Field) > 100:
		return invalid("%s: a field needs a name of 1 to 100 bytes", e.Name)
	case len(w.Values) > MaxValues:
		return invalid("%s: field %q has %d values, at most %d are taken", e.Name, w.Field, len(w.Values), MaxValues)
	}
	for _, v := range w.Values {
		if fold(v) == "" || len(v) > MaxValue {
			return invalid("%s: a value of field %q is empty or longer than %d bytes", e.Name, w.Field, MaxValue)
		}
	}
	return nil
}

// fieldsOf are the names of all fields, in the order in which they come.
func fieldsOf(examples []Example) (names []string) {
	seen := map[string]bool{}
	for i := range examples {
		for _, w := range examples[i].Want {
			if !seen[w.Field] {
				seen[w.Field] = true
				names = append(names, w.Field)
			}
		}
	}
	return names
}

// wantOf are all values of a field.
func wantOf(examples []Example, field string) (values []string) {
	for i := range examples {
		for _, w := range examples[i].Want {
			if w.Field == field {
				values = append(values, w.Values...)
			}
		}
	}
	return values
}
