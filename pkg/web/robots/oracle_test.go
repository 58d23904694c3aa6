package robots

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"
)

// reader turns fuzz input into choices.
type reader struct{ data []byte }

func (r *reader) next() int {
	if len(r.data) == 0 {
		return 0
	}
	c := r.data[0]
	r.data = r.data[1:]
	return int(c)
}

func (r *reader) pick(from ...string) string { return from[r.next()%len(from)] }

func (r *reader) text(alphabet string) string {
	var b strings.Builder
	for range r.next() % 12 {
		b.WriteByte(alphabet[r.next()%len(alphabet)])
	}
	return b.String()
}

// writeFile makes a robots.txt of what we and Google's parser should read alike. Left out is what docs/robots.md says
// we read otherwise: encoded unreserved octets, reserved octets both raw and encoded, octets beyond ASCII in a URL,
// lines over 16 KiB, /robots.txt itself, names that only share their letters, keys that only we take for misspelt,
// other records with a key that starts like a rule's and a value that is no path.
func writeFile(r *reader) string {
	var b strings.Builder
	b.WriteString(r.pick("", "", "\xef", "\xef\xbb", "\uFEFF", "\xef\x11"))
	for range r.next() % 16 {
		colon := r.pick(":", ":", ": ", " :\t", " ", "\t ")
		switch r.next() % 8 {
		case 0, 1:
			b.WriteString(r.pick("User-agent", "USER-AGENT", " user-agent", "Useragent", "User agent", "User-agents") +
				colonFor(r, colon) + r.pick("a", "B", "*", "a/1.0", "ab", "c1", "c2/3", "b c", "* x"))
		case 2, 3, 4, 5:
			b.WriteString(r.pick("Allow", "Disallow", "disallow", "ALLOW", "Dissallow", "disalow", "Diaslow", "DIASLLOW",
				"Dissalow", "Disallaw", "Disallowed", "allowed") + colon)
			if r.next()%8 != 0 {
				b.WriteString(r.pick("/", "/", "*") + r.text("/ab*$?.=-*") + r.pick("", "", "", "/index.html", "/index.htm?a",
					"/a/index.html"))
			}
		case 6:
			b.WriteString(r.pick("Sitemap: /s", "Crawl-delay: 2", "Noise: a", "# a: b", "Noise /a", "Disallow", "allow /a b"))
		}
		b.WriteString(r.pick("\n", "\r\n", "\r", "\n\n", " # c\n"))
	}
	return b.String()
}

// colonFor keeps the colon where the value or the key may be of two words: without one we read more than Google's
// parser.
func colonFor(r *reader, colon string) string {
	if !strings.Contains(colon, ":") {
		return r.pick(":", " : ")
	}
	return colon
}

func compareWithOracle(t *testing.T, data []byte) {
	r := &reader{data}
	file := writeFile(r)
	parsed := Parse([]byte(file))
	for range 4 {
		agent := r.pick("a", "b", "AB", "zz", "c1", "c2", "c3")
		path := "/" + r.text("/ab?.=-ab") + r.pick("", "", "/", "/index.html", "/a/")
		want := grobotstxt.AgentAllowed(file, agent, "http://h"+path)
		got, rule, line := parsed.Agent(agent).Match(path)
		if got != want {
			t.Errorf("%s %s: we say %v by %q (line %d), the oracle %v, of\n%s", agent, path, got, rule, line, want, file)
		}
	}
}

func FuzzAgainstOracle(f *testing.F) {
	random := rand.New(rand.NewPCG(9309, 2022))
	for range 1000 {
		seed := make([]byte, 300)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(compareWithOracle)
}
