package robots

import (
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"
)

// The list in docs/robots.md: what Google's parser answers otherwise. Each entry fails when that is so no more.
func TestWhereGooglesParserAnswersOtherwise(t *testing.T) {
	long := "/" + strings.Repeat("a", 17_000)
	for _, tt := range []struct {
		name, file, agent, path string
		allowed                 bool // by us
	}{
		{"1 unreserved octets", "User-agent: a\nDisallow: /%62%61%7A", "a", "/baz", false},
		{"2 reserved octets in the query", "User-agent: a\nDisallow: /x?u=http://b", "a", "/x?u=http%3A%2F%2Fb", false},
		{"3 other octets", "User-agent: a\nDisallow: /a|b", "a", "/a%7Cb", false},
		{"4 robots.txt itself", "User-agent: a\nDisallow: /", "a", "/robots.txt", true},
		{"5 long lines", "User-agent: a\nDisallow: " + long + "/x", "a", long + "/y", true},
		{"6 octets are counted in the form that is compared", "User-agent: a\nDisallow: /%7Ex\nAllow: /*x*", "a", "/%7Ex",
			true},
		{"7 names with more than letters", "User-agent: crawler\nDisallow: /x", "crawler2", "/x", false},
		{"7 in the file", "User-agent: crawler2\nDisallow: /x", "crawler", "/x", false},
		{"8 more misspellings", "User-agent: a\nDis-allow: /x", "a", "/x", false},
		{"9 keys that only start like a rule's", "User-agent: a\nAllowed-by: me\nUser-agent: b\nDisallow: /x", "a", "/x",
			false},
		{"10 no colon before a colon", "User-agent: a\nDisallow /x:y", "a", "/x:y", false},
		{"10 no colon after two words", "User agent a\nDisallow: /x", "a", "/x", false},
		{"11 break elements", "User-agent: a<br>Disallow: /x<br>", "a", "/x", false},
		{"11 tags", "<p>User-agent: a</p>\n<p>Disallow: /x</p>", "a", "/x", false},
		{"12 UTF-16", utf16Text("User-agent: a\nDisallow: /x", false), "a", "/x", false},
		{"13 UTF-16 without its mark", utf16Text("User-agent: a\nDisallow: /x", false)[2:], "a", "/x", false},
		{"13 NUL", "User-agent: a\nDisallow: /x\x00\n", "a", "/x", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Parse([]byte(tt.file)).Agent(tt.agent).Allowed(tt.path); got != tt.allowed {
				t.Errorf("we say %v", got)
			}
			if grobotstxt.AgentAllowed(tt.file, tt.agent, "http://h"+tt.path) == tt.allowed {
				t.Error("the oracle says the same: take it off the list")
			}
		})
	}
}
