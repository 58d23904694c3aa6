package parser

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/xpath"
)

// Rules are a job's site rules and selection policies, ready for use by many goroutines.
type Rules struct {
	rules    []rule
	policies []*policy
	models   *models // nil: the job has none
}

type rule struct {
	host   string
	match  *regexp.Regexp // nil: any URL
	fields []*field
	links  []linkWeight
}

type linkWeight struct {
	match  *regexp.Regexp
	weight int
}

// CompileRules checks and compiles site rules. The error has a line for each mistake, naming rule and field.
func CompileRules(rules []crawl.SiteRule) (*Rules, error) {
	out, errs := &Rules{}, []error(nil)
	for i := range rules {
		name := fmt.Sprintf("rule %q", rules[i].Name)
		if rules[i].Name == "" {
			name = fmt.Sprintf("rule %d", i+1)
		}
		r, err := compileRule(&rules[i])
		for _, e := range err {
			errs = append(errs, fmt.Errorf("%s: %w", name, e))
		}
		out.rules = append(out.rules, r)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

func compileRule(s *crawl.SiteRule) (r rule, errs []error) {
	r.host = strings.ToLower(strings.TrimSpace(s.Host))
	note := func(err error, format string, args ...any) {
		if err != nil {
			errs = append(errs, fmt.Errorf(format+": %w", append(args, err)...))
		}
	}
	var err error
	if s.Match != "" {
		r.match, err = regexp.Compile(s.Match)
		note(err, "match")
	}
	seen := map[string]bool{}
	for i := range s.Fields {
		f, err := compileField(&s.Fields[i])
		if err == nil && seen[f.name] {
			err = errors.New("the rule has two fields of that name")
		}
		note(err, "field %q", s.Fields[i].Name)
		if err == nil {
			seen[f.name] = true
			r.fields = append(r.fields, f)
		}
	}
	for i, l := range s.Links {
		w, err := compileWeight(l)
		note(err, "link weight %d", i+1)
		r.links = append(r.links, w)
	}
	return r, errs
}

func compileWeight(l crawl.LinkWeight) (linkWeight, error) {
	if l.Weight < 1 || l.Weight > 9 {
		return linkWeight{}, fmt.Errorf("weight %d: want 1 to 9", l.Weight)
	}
	re, err := regexp.Compile(l.Match)
	return linkWeight{re, l.Weight}, err
}

func compileField(s *crawl.FieldRule) (*field, error) {
	f := &field{name: s.Name, attr: strings.ToLower(s.Attr), list: s.List, convert: converters[s.Type]}
	switch {
	case s.Name == "":
		return nil, errors.New("it has no name")
	case (s.CSS == "") == (s.XPath == ""):
		return nil, errors.New("want either css or xpath")
	case f.convert == nil && s.Type != typeHTML:
		return nil, fmt.Errorf("type %q: want string, number, integer, bool, date or html", s.Type)
	case s.Type == typeHTML && s.Attr != "":
		return nil, errors.New("type html and attr exclude each other")
	}
	var err error
	if s.Regex != "" {
		if f.regex, err = regexp.Compile(s.Regex); err != nil {
			return nil, fmt.Errorf("regex: %w", err)
		}
	}
	if s.CSS != "" {
		compiled, err := CompileSelector(s.CSS)
		f.css = compiled.css
		return f, err
	}
	f.xpath, err = xpath.Compile(s.XPath)
	return f, wrapSelector("xpath", s.XPath, err)
}

func wrapSelector(what, selector string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", what, selector, err)
}

// matching returns the rules for a page.
func (rs *Rules) matching(u weburl.URL) (match []*rule) {
	if rs == nil || len(rs.rules) == 0 {
		return nil
	}
	at := place{url: u}
	for i := range rs.rules {
		if r := &rs.rules[i]; r.matches(&at) {
			match = append(match, r)
		}
	}
	return match
}

// place is where a page is.
type place struct {
	url    weburl.URL
	domain string // registrable; empty: nobody has asked yet
}

// matches reports whether a rule is for the page there.
func (r *rule) matches(at *place) bool {
	if r.host != "" && r.host != at.url.Hostname() && r.host != at.url.HostKey() {
		if at.domain == "" {
			at.domain = at.url.RegistrableDomain()
		}
		if r.host != at.domain {
			return false
		}
	}
	return r.match == nil || r.match.MatchString(at.url.String())
}

// Matches reports whether any of the rules is for the page.
func (rs *Rules) Matches(u weburl.URL) bool { return len(rs.matching(u)) > 0 }

// weigh gives each link the weight of the first pattern that matches it.
func weigh(rules []*rule, links []crawl.Link) {
	for _, r := range rules {
		for _, w := range r.links {
			for i := range links {
				if l := &links[i]; l.Weight == 0 && !l.URL.IsZero() && w.match.MatchString(l.URL.String()) {
					l.Weight = w.weight
				}
			}
		}
	}
}
