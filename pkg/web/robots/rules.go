package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// noDelay stands for no Crawl-delay; 0 is one a site may ask for.
	noDelay = time.Duration(-1)

	// maxWork bounds the octets the wildcard patterns of one Match may scan, so that a hostile file costs
	// milliseconds, not seconds. 8,000 wildcard patterns on a path of 2,000 octets stay within it.
	maxWork = 16 << 20

	// OverBudget is what Match gives as the rule where the file's wildcards cost more than a crawler can afford:
	// the answer is then no.
	OverBudget = "(wildcard rules too costly to match)"
)

// Rules are the compiled rules for one crawler on one site. They are immutable, safe for concurrent use and hold no
// reference to the file they come from.
type Rules struct {
	prefixes []prefix  // patterns without * and $, by text
	patterns []pattern // the others, most specific first
	delay    time.Duration
}

// rule is what matters of a rule once its pattern has matched.
type rule struct {
	source string // the pattern as written
	length int32  // octets of the pattern in comparison form
	line   int32
	allow  bool
}

// AllowAll returns rules that allow everything: those of a site without a robots.txt.
func AllowAll() *Rules { return compile(nil, noDelay) }

// DisallowAll returns rules that allow nothing but /robots.txt: those of a site whose robots.txt could not be had.
func DisallowAll() *Rules { return compile([]rawRule{{pattern: "/"}}, noDelay) }

func compile(raw []rawRule, delay time.Duration) *Rules {
	r := &Rules{delay: delay}
	for _, line := range detach(raw) {
		decided := rule{source: line.pattern, line: line.line, allow: line.allow}
		r.add(decided, line.pattern)
		if directory, ok := directoryOf(line.pattern); ok && line.allow {
			r.add(decided, directory+"$")
		}
	}
	r.prefixes = linkPrefixes(r.prefixes)
	slices.SortFunc(r.patterns, func(a, b pattern) int { return a.order(b.rule) })
	return r
}

// add compiles one pattern of a rule.
func (r *Rules) add(decided rule, text string) {
	if !strings.ContainsAny(text, "*$") {
		r.addPrefix(normalLiteral(text, false), decided)
	} else if p := parsePattern(decided, text); p.isPrefix() {
		r.addPrefix(p.segments[0].strict, decided)
	} else {
		r.patterns = append(r.patterns, p)
	}
}

// directoryOf is the directory whose index page a pattern names: who allows /a/index.html allows /a/, as Google's
// parser reads it.
func directoryOf(pattern string) (directory string, ok bool) {
	slash := strings.LastIndexByte(pattern, '/')
	if slash < 0 || !strings.HasPrefix(pattern[slash:], "/index.htm") {
		return "", false
	}
	return pattern[:slash+1], true
}

// detach moves the patterns from the text of the file to one of their own.
func detach(raw []rawRule) []rawRule {
	var b strings.Builder
	for _, r := range raw {
		b.WriteString(r.pattern)
	}
	text := b.String()
	for i, r := range raw {
		raw[i].pattern, text = text[:len(r.pattern)], text[len(r.pattern):]
	}
	return raw
}

func (r *Rules) addPrefix(text string, decided rule) {
	decided.length = int32(len(text))
	r.prefixes = append(r.prefixes, prefix{text: text, rule: decided})
}

// order sorts rules by who decides where several match: the longest, of equal ones Allow (section 2.2.2), then the
// first of the file.
func (r rule) order(other rule) int {
	switch {
	case r.length != other.length:
		return cmp.Compare(other.length, r.length)
	case r.allow != other.allow && r.allow:
		return -1
	case r.allow != other.allow:
		return 1
	}
	return cmp.Compare(r.line, other.line)
}

func (r rule) String() string {
	if r.allow {
		return "Allow: " + r.source
	}
	return "Disallow: " + r.source
}

// Allowed reports whether the crawler may fetch this path, which includes the query: "/a/b?c=d". It is always true
// for /robots.txt itself.
func (r *Rules) Allowed(pathAndQuery string) bool {
	best, _ := r.find(pathAndQuery)
	return best == nil || best.allow
}

// Match is Allowed with its reason: the rule that decided, as "Disallow: /private/", and its line in the file, from
// 1. They are "" and 0 where no rule matches, and OverBudget and 0 where the matching was given up.
func (r *Rules) Match(pathAndQuery string) (allowed bool, rule string, line int) {
	best, inBudget := r.find(pathAndQuery)
	switch {
	case !inBudget:
		return false, OverBudget, 0
	case best == nil:
		return true, "", 0
	}
	return best.allow, best.String(), int(best.line)
}

// CrawlDelay returns the time the site asks this crawler to leave between requests, up to MaxCrawlDelay, and whether
// it asks at all. It is no part of the RFC: a group's first readable Crawl-delay counts, and of several merged groups
// the longest, so that none of them is broken.
func (r *Rules) CrawlDelay() (time.Duration, bool) {
	return max(r.delay, 0), r.delay != noDelay
}

// givenUp is the rule that stands for an exhausted budget.
var givenUp = rule{allow: false}

// find returns the rule that decides, nil if none does, and whether it stayed within the budget.
func (r *Rules) find(pathAndQuery string) (best *rule, inBudget bool) {
	path, query := normalPath(pathAndQuery)
	if path == "/robots.txt" {
		return nil, true
	}
	best = longestPrefix(r.prefixes, path)
	for i, work := 0, 0; i < len(r.patterns); i++ {
		p := &r.patterns[i]
		if best != nil && p.order(*best) > 0 {
			break
		}
		matched, scanned := p.match(path, query)
		if matched {
			return &p.rule, true
		}
		if work += scanned; work > maxWork {
			return &givenUp, false
		}
	}
	return best, true
}
