package crawl

import (
	"fmt"
	"regexp/syntax"
)

// maxPatternParts bounds what all regular expressions of a job compile to, together. A part takes about forty bytes, in
// each of the programs that use the job.
const maxPatternParts = 1_000_000

// CheckPatternSizes finds the regular expression by which those of a job become too large: (a{1000}) has seven
// letters.
func CheckPatternSizes(j *Job) error {
	sum := 0
	var found error
	j.eachPattern(func(key, pattern string) bool {
		if sum += patternParts(pattern); sum > maxPatternParts {
			found = &KeyError{key, fmt.Sprintf(
				"with this pattern the regular expressions of the job compile to more than %d parts: "+
					"use fewer of them, and fewer repetitions such as {1000}", maxPatternParts)}
		}
		return found == nil
	})
	return found
}

// eachPattern calls use with each regular expression of the job and its key, until that returns false.
func (j *Job) eachPattern(use func(key, pattern string) bool) {
	more := true
	one := func(pattern, format string, at ...any) {
		if more && pattern != "" {
			more = use(fmt.Sprintf(format, at...), pattern)
		}
	}
	for key, list := range map[string][]string{"include": j.Include, "exclude": j.Exclude, "continuous": j.Continuous} {
		for i, p := range list {
			one(p, "%s[%d]", key, i)
		}
	}
	for i := range j.Rules {
		r := &j.Rules[i]
		one(r.Match, "rules[%d].match", i)
		for k := range r.Fields {
			one(r.Fields[k].Regex, "rules[%d].fields[%d].regex", i, k)
		}
		for k := range r.Links {
			one(r.Links[k].Match, "rules[%d].links[%d].match", i, k)
		}
	}
	for i := range j.Select {
		p := &j.Select[i]
		one(p.Match, "select[%d].match", i)
		one(p.Regex, "select[%d].regex", i)
		for k := range p.Fields {
			one(p.Fields[k].Regex, "select[%d].fields[%d].regex", i, k)
		}
	}
}

// patternParts estimates what a regular expression compiles to, without doing so: it takes no more than its text does.
// One that is none has no parts.
func patternParts(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return partsOf(re)
}

func partsOf(re *syntax.Regexp) int {
	sum := 1 + len(re.Rune)/8 // a class is one part, with a list
	if re.Op == syntax.OpLiteral {
		sum = len(re.Rune)
	}
	for _, sub := range re.Sub {
		sum += partsOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		sum *= max(re.Min, re.Max, 1)
	}
	return min(sum, maxPatternParts+1)
}
