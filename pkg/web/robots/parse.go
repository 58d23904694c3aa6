package robots

import (
	"strings"
	"time"
)

// MaxSize is how many octets of a file are read; the RFC asks for at least 500 KiB (section 2.5). A line cut by this
// limit is dropped, since half a pattern would match more than its author meant.
const MaxSize = 512 << 10

// MaxSitemaps is how many Sitemap records of one file are kept.
const MaxSitemaps = 10_000

// wildcardAgent is the name of the group that stands for every crawler without its own.
const wildcardAgent = "*"

// File is a parsed robots.txt. It is immutable and keeps the text of the file alive: get the Rules and drop it.
type File struct {
	groups   []group
	agents   map[string][]member // by name in lower case, in order
	loose    map[string][]member // names with more than letters, by the letters they start with
	sitemaps []string
}

// group is what follows one or more user-agent lines.
type group struct {
	agents int // user-agent lines read so far
	rules  []rawRule
	delays []rawDelay
}

// member says that a name is in a group, and at which of its user-agent lines first.
type member struct{ group, at int }

// rawDelay is a Crawl-delay or Request-rate line. It is no rule and so does not end the list of user agents, but only
// those above it are meant: `User-agent: slow`, `Crawl-delay: 60`, `User-agent: *`, `Disallow: /x` is one group to the
// RFC, yet nobody who writes this wants everyone to wait.
type rawDelay struct {
	agents int // user-agent lines above it
	delay  time.Duration
	rate   bool
}

// rawRule is an Allow or Disallow line as written.
type rawRule struct {
	pattern string
	line    int32
	allow   bool
}

// Parse reads a robots.txt. It never fails: what cannot be read as a record is skipped. Time and memory are linear
// in the body, of which at most MaxSize octets are looked at.
func Parse(body []byte) *File {
	text := textOf(body)
	p := parser{file: &File{agents: map[string][]member{}}}
	markup := strings.IndexByte(text, '<') >= 0
	for line := int32(1); text != ""; line++ {
		var record string
		record, text = cutLine(text)
		if markup {
			p.marked(record, line, line == 1 && text == "")
		} else {
			p.record(record, line)
		}
	}
	return p.file
}

// cutLine splits off the first line; lines end in CR, LF or CRLF.
func cutLine(text string) (line, rest string) {
	end := strings.IndexAny(text, "\r\n")
	switch {
	case end < 0:
		return text, ""
	case strings.HasPrefix(text[end:], "\r\n"):
		return text[:end], text[end+2:]
	default:
		return text[:end], text[end+1:]
	}
}

// parser is the state between two lines.
type parser struct {
	file  *File
	group *group // the last one; nil before the first user-agent line
	ruled bool   // the group has a rule, so the next user-agent line starts a new one
}

// record reads one line. Records other than rules and user-agent lines leave the grouping alone, as section 2.2.4
// demands.
func (p *parser) record(line string, number int32) {
	line, _, _ = strings.Cut(line, "#")
	var kind recordKind
	key, value, ok := strings.Cut(line, ":")
	if ok {
		kind, value = exactKind(trim(key)), trim(value)
	}
	if kind == otherRecord {
		if kind, value = looseRecord(trim(line)); kind == otherRecord {
			return
		}
	}
	switch kind {
	case userAgentRecord:
		p.userAgent(value)
	case allowRecord:
		p.rule(value, number, true)
	case disallowRecord:
		p.rule(value, number, false)
	case crawlDelayRecord:
		delay, ok := parseDelay(value)
		p.delay(rawDelay{delay: delay}, ok)
	case requestRateRecord:
		delay, ok := parseRate(value)
		p.delay(rawDelay{delay: delay, rate: true}, ok)
	case sitemapRecord:
		p.sitemap(value)
	}
}

// trim removes white space: the RFC's spaces and tabs, and those that come with copied text.
func trim(s string) string { return strings.TrimSpace(s) }

// userAgent adds a name to the current group or starts a new one. A line without a valid name still starts its
// group: its rules are somebody else's, and must not fall to the group before.
func (p *parser) userAgent(value string) {
	if p.group == nil || p.ruled {
		p.file.groups = append(p.file.groups, group{})
		p.group, p.ruled = &p.file.groups[len(p.file.groups)-1], false
	}
	p.group.agents++
	name := agentName(value)
	if name == "" {
		return
	}
	p.file.agents[name] = p.join(p.file.agents[name])
	if letters := leadingLetters(name); letters != "" && letters != name {
		if p.file.loose == nil {
			p.file.loose = map[string][]member{}
		}
		p.file.loose[letters] = p.join(p.file.loose[letters])
	}
}

// join adds the current group to the known ones, once.
func (p *parser) join(known []member) []member {
	current := len(p.file.groups) - 1
	if n := len(known); n > 0 && known[n-1].group == current {
		return known
	}
	return append(known, member{group: current, at: p.group.agents})
}

// rule adds a rule to the current group. An empty pattern is a rule that says nothing; it still closes the list of
// user agents. Rules before any user-agent line are ignored (section 2.2.2).
func (p *parser) rule(pattern string, line int32, allow bool) {
	if p.group == nil {
		return
	}
	p.ruled = true
	if isPattern(pattern) {
		p.group.rules = append(p.group.rules, rawRule{pattern: pattern, line: line, allow: allow})
	}
}

func (p *parser) delay(d rawDelay, ok bool) {
	if ok && p.group != nil {
		d.agents = p.group.agents
		p.group.delays = append(p.group.delays, d)
	}
}

func (p *parser) sitemap(value string) {
	if value != "" && len(p.file.sitemaps) < MaxSitemaps {
		p.file.sitemaps = append(p.file.sitemaps, strings.Clone(value))
	}
}

// Sitemaps returns the values of the Sitemap records as written, in order, whatever group they are in.
func (f *File) Sitemaps() []string { return f.sitemaps }
