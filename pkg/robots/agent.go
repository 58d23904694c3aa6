package robots

import (
	"strings"
	"time"
)

// MaxCrawlDelay is the longest Crawl-delay that is understood; a longer one reads as this.
const MaxCrawlDelay = 24 * time.Hour

// Agent returns the rules for a crawler with this product token, for example "whirlpool" (what follows the token, as
// in "Whirlpool/1.0", is ignored). Tokens are compared whole and without regard to case. All groups that name the
// token are merged; without one, those for `*` apply; without these, everything is allowed (section 2.2.1). A group
// of its own replaces `*` entirely, Crawl-delay included.
func (f *File) Agent(product string) *Rules {
	token := agentToken(product)
	if _, ok := f.agents[token]; !ok {
		token = wildcardAgent
	}
	var rules []rawRule
	delay := noDelay
	for _, m := range f.agents[token] {
		group := &f.groups[m.group]
		rules = append(rules, group.rules...)
		delay = max(delay, group.delayOf(m))
	}
	return compile(rules, delay)
}

// delayOf returns the first Crawl-delay below the line that names the member, or noDelay.
func (g *group) delayOf(m member) time.Duration {
	for _, d := range g.delays {
		if m.at <= d.agents {
			return d.delay
		}
	}
	return noDelay
}

// agentToken reads the product token at the start of s, in lower case: "Foo/1.0" is foo. It is `*` only where
// nothing or white space follows, and "" where there is none.
func agentToken(s string) string {
	if s == wildcardAgent || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "*\t") {
		return wildcardAgent
	}
	return strings.ToLower(s[:len(s)-len(strings.TrimLeft(s, tokenChars))])
}

// tokenChars are the characters of a product token (section 2.2.1).
const tokenChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// parseDelay reads the seconds at the start of a Crawl-delay value, with an optional decimal fraction. Units and
// other text after the number are ignored. Only milliseconds of the fraction are kept.
func parseDelay(s string) (time.Duration, bool) {
	var delay time.Duration
	i, digits := 0, 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		delay = min(delay*10+time.Duration(s[i]-'0')*time.Second, MaxCrawlDelay)
		digits++
	}
	if i < len(s) && s[i] == '.' {
		unit := 100 * time.Millisecond
		for i++; i < len(s) && isDigit(s[i]); i++ {
			delay += time.Duration(s[i]-'0') * unit
			unit = unit / 10 / time.Millisecond * time.Millisecond
			digits++
		}
	}
	return min(delay, MaxCrawlDelay), digits > 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
