package crawl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/selector"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/xpath"
)

// Bounds of Job.Select.
const (
	maxPolicies      = 100
	maxPolicyFields  = 100
	maxKeywords      = 1000
	maxKeyword       = 200  // bytes
	maxSelectorBytes = 4096 // of a selector, pointer or pattern
)

var policyName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// FieldTypes are the types of fields that rules and policies extract; empty: string.
func FieldTypes() []string {
	return []string{"", "string", "number", "integer", "bool", "date", "html"}
}

// CheckSelect reports what is wrong with the job's policies.
func (j *Job) CheckSelect() error { return errors.Join(checkSelect(j)...) }

// checkSelect finds what is wrong with the policies.
func checkSelect(j *Job) (errs []error) {
	if len(j.Select) > maxPolicies {
		return []error{&KeyError{"select", fmt.Sprintf("%d policies: want at most %d", len(j.Select), maxPolicies)}}
	}
	names := map[string]string{}
	for i := range j.Rules {
		for _, f := range j.Rules[i].Fields {
			names[f.Name] = "a field of rules"
		}
	}
	for i := range j.Select {
		p, at := &j.Select[i], fmt.Sprintf("select[%d]", i)
		c := selectCheck{at: at}
		c.name(p.Name)
		if before := names[p.Name]; before != "" {
			c.bad("name", "%q: %s has that name too", p.Name, before)
		}
		names[p.Name] = at
		c.policy(p)
		errs = append(errs, c.errs...)
	}
	return errs
}

// selectCheck collects the faults of a policy, or of one of its fields.
type selectCheck struct {
	at   string
	errs []error
}

func (c *selectCheck) bad(key, format string, args ...any) {
	c.errs = append(c.errs, &KeyError{strings.TrimSuffix(c.at+"."+key, "."), fmt.Sprintf(format, args...)})
}

func (c *selectCheck) name(name string) {
	if !policyName.MatchString(name) {
		c.bad("name", "%q: want 1 to 64 of letters, digits, _ and -", name)
	}
}

func (c *selectCheck) policy(p *Policy) {
	var has []string
	for _, k := range []struct {
		key string
		is  bool
	}{{"css", p.CSS != ""}, {"xpath", p.XPath != ""}, {"keywords", len(p.Keywords) > 0},
		{"json_pointer", p.JSONPointer != ""}, {"regex", p.Regex != ""}} {
		if k.is {
			has = append(has, k.key)
		}
	}
	if len(has) != 1 {
		c.bad("", "has %d of css, xpath, keywords, json_pointer and regex%s: want one, which says what is looked for",
			len(has), listed(has))
		return
	}
	c.errs = append(c.errs, checkRanges(c.at+".types", p.Types)...)
	c.patterns(p.CSS, p.XPath, p.JSONPointer, p.Regex)
	c.pattern("match", p.Match)
	c.keywords(p.Keywords)
	if p.Window != 0 && has[0] != "keywords" {
		c.bad("window", "%d: it is of keywords, and this policy has %s", p.Window, has[0])
	}
	if p.List && has[0] != "regex" {
		c.bad("list", "true: it is of regex; %s takes all anyway", has[0])
	}
	if len(p.Fields) > 0 && (has[0] == "keywords" || has[0] == "regex") {
		c.bad("fields", "are of css, xpath and json_pointer, and this policy has %s", has[0])
		return
	}
	c.fields(p, has[0])
}

func listed(has []string) string {
	if len(has) == 0 {
		return ""
	}
	return " (" + strings.Join(has, ", ") + ")"
}

// patterns checks whatever of them there is.
func (c *selectCheck) patterns(css, path, pointer, regex string) {
	if _, err := selector.Parse(css); css != "" && err != nil {
		c.bad("css", "%q is no CSS selector: %v", css, err)
	}
	if _, err := xpath.Compile(path); path != "" && err != nil {
		c.bad("xpath", "%q is no XPath expression: %v", path, err)
	}
	if _, err := jsonpointer.Parse(pointer); err != nil {
		c.bad("json_pointer", "%q %v", pointer, err)
	}
	c.pattern("regex", regex)
	for key, text := range map[string]string{"css": css, "xpath": path, "json_pointer": pointer} {
		if len(text) > maxSelectorBytes {
			c.bad(key, "has %d bytes: want at most %d", len(text), maxSelectorBytes)
		}
	}
}

func (c *selectCheck) pattern(key, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil || len(pattern) > maxSelectorBytes {
		c.bad(key, "pattern %.200q: %v", pattern, err)
	}
}

func (c *selectCheck) keywords(list []string) {
	if len(list) > maxKeywords {
		c.bad("keywords", "has %d: want at most %d", len(list), maxKeywords)
		return
	}
	for i, k := range list {
		switch word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }; {
		case len(k) > maxKeyword:
			c.bad(fmt.Sprintf("keywords[%d]", i), "has %d bytes: want at most %d", len(k), maxKeyword)
		case !strings.ContainsFunc(k, word):
			c.bad(fmt.Sprintf("keywords[%d]", i), "%q: want a word, with a letter or digit", k)
		}
	}
}

// fields checks those of a policy that looks for what the key says.
func (c *selectCheck) fields(p *Policy, key string) {
	if len(p.Fields) > maxPolicyFields {
		c.bad("fields", "are %d: want at most %d", len(p.Fields), maxPolicyFields)
		return
	}
	seen := map[string]bool{}
	for i := range p.Fields {
		f := &p.Fields[i]
		fc := selectCheck{at: fmt.Sprintf("%s.fields[%d]", c.at, i)}
		fc.name(f.Name)
		if seen[f.Name] {
			fc.bad("name", "%q: the policy has another field of that name", f.Name)
		}
		seen[f.Name] = true
		fc.field(f, key == "json_pointer")
		c.errs = append(c.errs, fc.errs...)
	}
}

func (c *selectCheck) field(f *PolicyField, json bool) {
	switch {
	case json && (f.CSS != "" || f.XPath != "" || f.Attr != ""):
		c.bad("", "has css, xpath or attr, and the policy reads JSON: want json_pointer")
	case json && f.JSONPointer == "":
		c.bad("json_pointer", `is missing: want one as in /title, or "#" for the whole object`)
	case !json && f.JSONPointer != "":
		c.bad("json_pointer", "%q: the policy reads no JSON", f.JSONPointer)
	case f.CSS != "" && f.XPath != "":
		c.bad("", "has css and xpath: want one of them")
	case !slices.Contains(FieldTypes(), f.Type):
		c.bad("type", "%q: want string, number, integer, bool, date or html", f.Type)
	case f.Type == "html" && (f.Attr != "" || json):
		c.bad("type", "html: it is the HTML of an element, not of an attribute or of JSON")
	}
	c.patterns(f.CSS, f.XPath, f.JSONPointer, f.Regex)
}
