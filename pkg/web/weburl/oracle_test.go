package weburl

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// oracle is an independent implementation of the standard.
var oracle = whatwg.NewParser()

func checkAgainstOracle(t *testing.T, raw, base string) {
	t.Helper()
	href, err := ParseAny(raw, base)
	var want *whatwg.Url
	var wantErr error
	if base == "" {
		want, wantErr = oracle.Parse(raw)
	} else {
		want, wantErr = oracle.ParseRef(base, raw)
	}
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("ParseAny(%q, %q) = %q, %v; the oracle says %v, %v", raw, base, href, err, want, wantErr)
	}
	if err == nil && href != want.Href(false) {
		t.Fatalf("ParseAny(%q, %q) = %q; the oracle says %q", raw, base, href, want.Href(false))
	}
}

// notNumber is what the oracle takes for an IPv4 number in a last label, because strconv.ParseInt reads a sign and
// finds an overflow before it finds a letter.
var notNumber = regexp.MustCompile(`[+-][0-9a-fA-F%]|[0-9a-fA-F]{15}`)

// unusual is a domain for UTS #46 with punctuation that the oracle refuses, as if UseSTD3ASCIIRules were true.
var unusual = regexp.MustCompile("([^\\x00-\\x7f]|%).*[!-$&-,;=_`{}~']|[!-$&-,;=_`{}~'].*([^\\x00-\\x7f]|%)")

// knownDeviation names the inputs on which the oracle is behind the standard.
func knownDeviation(s string) bool {
	s = cleanInput(s)
	return strings.Contains(s, "^") || // in the path percent-encode set since November 2024
		strings.Contains(s, " #") || strings.Contains(s, " ?") || // the last space of an opaque path is encoded since 2025
		strings.Count(s, "[") > 1 || strings.Count(s, "]") > 1 || // trims all brackets around an IPv6 address
		strings.Contains(strings.ToLower(s), "xn--") || // ASCII domains no longer fail since June 2026
		unicode16.Replace(s) != s ||
		notNumber.MatchString(s) ||
		unusual.MatchString(s)
}

// FuzzParseAgainstReference compares ParseAny with the oracle.
func FuzzParseAgainstReference(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, raw, base string) {
		if len(raw)+len(base) > 1000 || !utf8.ValidString(raw+base) || knownDeviation(raw) || knownDeviation(base) {
			t.Skip()
		}
		checkAgainstOracle(t, raw, base)
	})
}

// pieces are what references are composed of: each delimiter, and each kind of text that is treated in a way of its
// own.
var pieces = strings.Split("http:,https:,HTTP:,file:,x:,ws:,//,/,/,\\,.,..,/..,/.,%2e,%2E.,?,#,@,:,80,443,81,0,65536,"+
	"a,B,b.c,é,ß,xn--zca,xn--,xn--a,0x7f,1.2,256,08,[::1],[1::2.3.4.5],[,],%,%41,%4,%zz,C|,c:,C|/,localhost, ,\t,\n,"+
	"',\",<,`,{,|,;,=,&,+,~,\x00,\x7f,\u00ad,\uff0e,\uffff", ",")

func compose(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// TestComposedReferencesAgainstReference meets combinations that byte-wise fuzzing takes hours to come across.
func TestComposedReferencesAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bases := []string{"", "http://h/a/b?q#f", "https://u:p@h:81/", "file:///C:/a", "file://h/", "x://h/a", "x:/a/b", "x:o",
		"a:///"}
	for range 30_000 {
		raw, base := compose(r), bases[r.IntN(len(bases))]
		if r.IntN(2) == 0 {
			raw = "http://" + raw
		}
		if knownDeviation(raw) {
			continue
		}
		checkAgainstOracle(t, raw, base)
		b, err := parseStandard(base, URL{})
		if err != nil {
			b = URL{}
		}
		checkFastPath(t, raw, b)
	}
}
