package parser

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// maxSelected bounds what all policies together take from a page, in bytes of values.
const maxSelected = 1 << 20

// policy is a compiled crawl.Policy.
type policy struct {
	*crawl.Policy
	page    rule   // the pages that it is for, as far as their URLs say
	block   *field // of css and xpath: the elements
	pointer jsonpointer.Pointer
	words   *wordlist
	regex   *regexp.Regexp
	fields  []*field // of an object; none: its text, or its value
}

// Compile checks and compiles the site rules and the selection policies of a job. The error has a line for each
// mistake.
func Compile(job *crawl.Job) (*Rules, error) {
	rules, err := CompileRules(job.Rules)
	if err := errors.Join(err, job.CheckSelect()); err != nil {
		return nil, err
	}
	var errs []error
	for i := range job.Select {
		p, err := compilePolicy(&job.Select[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("policy %q: %w", job.Select[i].Name, err))
		}
		rules.policies = append(rules.policies, p)
	}
	return rules, errors.Join(errs...)
}

func compilePolicy(s *crawl.Policy) (p *policy, err error) {
	p = &policy{Policy: s}
	var errs []error
	if p.page, errs = compileRule(&crawl.SiteRule{Host: s.Host, Match: s.Match}); len(errs) > 0 {
		return p, errors.Join(errs...)
	}
	switch {
	case s.CSS != "" || s.XPath != "":
		p.block, err = compileField(&crawl.FieldRule{Name: s.Name, CSS: s.CSS, XPath: s.XPath, List: true})
	case len(s.Keywords) > 0:
		p.words = newWordlist(s.Keywords)
	case s.JSONPointer != "":
		p.pointer, err = jsonpointer.Parse(s.JSONPointer)
	case s.Regex != "":
		p.regex, err = regexp.Compile(s.Regex)
	}
	for i := 0; err == nil && i < len(s.Fields); i++ {
		f, e := compilePolicyField(&s.Fields[i])
		p.fields, err = append(p.fields, f), e
	}
	return p, err
}

// self is the XPath expression of an element itself.
const self = "."

func compilePolicyField(s *crawl.PolicyField) (*field, error) {
	rule := crawl.FieldRule{Name: s.Name, CSS: s.CSS, XPath: s.XPath, Attr: s.Attr, Regex: s.Regex, List: s.List,
		Type: s.Type}
	if rule.CSS == "" && rule.XPath == "" {
		rule.XPath = self
	}
	f, err := compileField(&rule)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", s.Name, err)
	}
	if s.JSONPointer != "" {
		f.own = s.Type == "" && s.Regex == ""
		f.pointer, err = jsonpointer.Parse(s.JSONPointer)
	}
	return f, err
}

// forPage reports whether a policy is for a page.
func (p *policy) forPage(s *source) bool {
	switch {
	case !p.For(s.r.MediaType), !p.page.matches(&s.place):
		return false
	case p.block != nil:
		return isMarkup(s.r.MediaType) && !s.r.binary
	case p.words != nil || p.regex != nil:
		return s.text != ""
	}
	return crawl.IsJSON(s.r.MediaType) && !s.r.binary
}

// selection is what the policies take from one page.
type selection struct {
	*source
	left int // bytes that may still be taken
}

// selected appends what the policies take from a page to its fields. A policy that finds nothing has no field.
func (rs *Rules) selected(s *source, fields []crawl.Field) []crawl.Field {
	if rs == nil || len(rs.policies) == 0 {
		return fields
	}
	sel := selection{s, maxSelected}
	for _, p := range rs.policies {
		if !p.forPage(s) {
			continue
		}
		if list := sel.take(p); len(list) > 0 {
			fields = append(fields, crawl.Field{Name: p.Name, Value: list})
		}
	}
	return fields
}

// take returns the objects of a policy. An error on this page ends the search of this policy only; the rest of the page
// is kept.
func (s *selection) take(p *policy) (list []any) {
	defer func() {
		if recover() != nil {
			s.r.cut(CutFields)
		}
	}()
	add := func(object map[string]any) bool {
		switch n := sizeOf(object); {
		case len(object) == 0:
			return true
		case len(list) == maxValues || n > s.left:
			s.r.cut(CutFields)
			return false
		default:
			s.left -= n
			list = append(list, object)
			return true
		}
	}
	switch {
	case p.block != nil:
		s.takeElements(p, add)
	case p.words != nil:
		s.takeWords(p, add)
	case p.regex != nil:
		s.takeMatches(p, add)
	default:
		s.takeJSON(p, add)
	}
	return list
}

// sizeOf is about how many bytes a value takes in a record.
func sizeOf(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case []any:
		for _, item := range v {
			n += sizeOf(item) + 1
		}
	case map[string]any:
		for name, value := range v {
			n += len(name) + 4 + sizeOf(value)
		}
	}
	return n + 8
}

// keep puts a value into an object, cut to what a value may have.
func (s *selection) keep(object map[string]any, name, text string) {
	if len(text) > maxValue {
		s.r.cut(CutFields)
		text = string(cutAt([]byte(text), maxValue))
	}
	object[name] = text
}
