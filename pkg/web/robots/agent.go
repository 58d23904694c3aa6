package robots

import (
	"strconv"
	"strings"
	"time"
)

// MaxCrawlDelay is the longest Crawl-delay that is understood; a longer one reads as this.
const MaxCrawlDelay = 24 * time.Hour

// Agent returns the rules for a crawler with this name, for example "whirlpool" (what follows the name, as in
// "Whirlpool/1.0", is ignored). All groups for it are merged; without one, those for `*` apply; without these,
// everything is allowed (section 2.2.1). A group of its own replaces `*` entirely, Crawl-delay included.
//
// Names are compared whole and without regard to case. The RFC's product token has letters, "-" and "_" only, yet
// crawlers and sites use digits and dots too: so where no group has the whole name, the letters that our name or the
// name in the file starts with decide. A "crawler2" obeys the group of crawler2, else that of crawler; never that of
// crawler1.
func (f *File) Agent(product string) *Rules {
	var rules []rawRule
	delay := noDelay
	for _, m := range f.members(agentName(product)) {
		group := &f.groups[m.group]
		rules = append(rules, group.rules...)
		delay = max(delay, group.delayOf(m))
	}
	return compile(rules, delay)
}

// members returns where the groups for a name stand.
func (f *File) members(name string) []member {
	if found, ok := f.agents[name]; ok && name != "" {
		return found
	}
	if letters := leadingLetters(name); letters != "" {
		if found, ok := f.agents[letters]; ok {
			return found
		}
		if found, ok := f.loose[name]; ok {
			return found
		}
	}
	return f.agents[wildcardAgent]
}

// delayOf returns the first Crawl-delay below the line that names the member, or what the first Request-rate there
// leaves between two requests, if that is longer; else noDelay.
func (g *group) delayOf(m member) time.Duration {
	longest := noDelay
	var delayed, rated bool
	for _, d := range g.delays {
		seen := &delayed
		if d.rate {
			seen = &rated
		}
		if m.at <= d.agents && !*seen {
			*seen, longest = true, max(longest, d.delay)
		}
	}
	return longest
}

// agentName reads the name at the start of s, in lower case: "Foo/1.0" is foo, "Foo2 (x)" is foo2. It is `*` only
// where nothing or white space follows, and "" where there is none.
func agentName(s string) string {
	if s == wildcardAgent || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "*\t") {
		return wildcardAgent
	}
	end := 0
	for end < len(s) && nameChars[s[end]] {
		end++
	}
	if s[:end] == wildcardAgent {
		return "" // an asterisk and something else
	}
	return strings.ToLower(s[:end])
}

// leadingLetters is the RFC's product token at the start of a name.
func leadingLetters(name string) string {
	return name[:len(name)-len(strings.TrimLeft(name, tokenChars))]
}

// tokenChars are the characters of a product token (section 2.2.1).
const tokenChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// nameChars are the characters of a product's name in a User-Agent header (RFC 9110, sections 5.6.2 and 10.1.5).
var nameChars = func() (t [256]bool) {
	for _, c := range []byte(tokenChars + "0123456789!#$%&'*+.^`|~") {
		t[c] = true
	}
	return t
}()

// parseDelay reads the number at the start of a Crawl-delay value, with an optional decimal fraction: seconds, unless a
// unit of time is behind it. Other text there is ignored. Only milliseconds are kept.
func parseDelay(s string) (time.Duration, bool) {
	var delay time.Duration
	i, digits := 0, 0
	unit, s := cutUnit(s)
	for ; i < len(s) && isDigit(s[i]); i++ {
		delay = min(delay*10+time.Duration(s[i]-'0')*unit, MaxCrawlDelay)
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			unit /= 10
			delay += time.Duration(s[i]-'0') * unit
			digits++
		}
	}
	return min(delay, MaxCrawlDelay).Truncate(time.Millisecond), digits > 0
}

// cutUnit returns the unit of a Crawl-delay and what is before it.
func cutUnit(s string) (time.Duration, string) {
	number := strings.TrimLeft(s, "0123456789.")
	number = s[:len(s)-len(number)]
	switch strings.ToLower(strings.Trim(s[len(number):], " \t.;")) {
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds":
		return time.Millisecond, number
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute, number
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour, number
	case "d", "day", "days":
		return 24 * time.Hour, number
	}
	return time.Second, number
}

// parseRate reads a Request-rate such as "1/10", "3/5m" or "1/2s 0800-1800": documents in seconds, or in the unit of
// time behind them. It holds all day.
func parseRate(s string) (time.Duration, bool) {
	documents, rest, found := strings.Cut(s, "/")
	n, err := strconv.Atoi(trim(documents))
	rest, _, _ = strings.Cut(trim(rest), " ")
	span, ok := parseDelay(rest)
	if !found || err != nil || n < 1 || !ok {
		return 0, false
	}
	return min(span/time.Duration(n), MaxCrawlDelay), true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
