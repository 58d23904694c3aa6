package crawl

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestPatternPartsIsAboutWhatAPatternCompilesTo(t *testing.T) {
	for _, p := range []string{"a", "/jobs/[0-9]+", "(a|bc|def){500}", "((a{10}){10}){9}", `\pL{100}`, "(?i)(x|y*)?z$",
		strings.Repeat("abc", 300)} {
		re, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := patternParts(p), len(prog.Inst); got < want/4-10 {
			t.Errorf("%.40s: %d parts, it compiles to %d", p, got, want)
		}
	}
}

// Patterns of a few letters that compile to gigabytes are refused before they are compiled, wherever they stand.
func TestPatternsThatAreTooLarge(t *testing.T) {
	large := strings.Repeat("(ab|cd|ef|gh){1000}", 120)
	for key, set := range map[string]func(*Job, string){
		"include[1]":              func(j *Job, p string) { j.Include = []string{"a", p} },
		"exclude[0]":              func(j *Job, p string) { j.Exclude = []string{p} },
		"continuous[0]":           func(j *Job, p string) { j.Continuous = []string{p} },
		"rules[0].match":          func(j *Job, p string) { j.Rules = []SiteRule{{Match: p}} },
		"rules[0].fields[0]":      func(j *Job, p string) { j.Rules = []SiteRule{{Fields: []FieldRule{{Regex: p}}}} },
		"rules[0].links[0]":       func(j *Job, p string) { j.Rules = []SiteRule{{Links: []LinkWeight{{Match: p}}}} },
		"select[0].match":         func(j *Job, p string) { j.Select = []Policy{{Match: p}} },
		"select[0].regex":         func(j *Job, p string) { j.Select = []Policy{{Regex: p}} },
		"select[0].fields[0].reg": func(j *Job, p string) { j.Select = []Policy{{Fields: []PolicyField{{Regex: p}}}} },
	} {
		job := DefaultJob()
		job.ID, job.Seeds = "j", []string{"http://a.test/"}
		set(&job, large)
		e := (*KeyError)(nil)
		if err := job.Validate(); !errors.As(err, &e) || !strings.HasPrefix(e.Key, key) ||
			!strings.Contains(e.Problem, "compile to more than") {
			t.Errorf("%s: %v", key, err)
		}
	}
	job := DefaultJob()
	job.ID, job.Seeds = "j", []string{"http://a.test/"}
	for range 10_000 {
		job.Exclude = append(job.Exclude, "/calendar/[0-9]{4}/[0-9]{2}/")
	}
	if err := job.Validate(); err != nil {
		t.Errorf("a long list: %v", err)
	}
}
