package builtin

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of keywords.
const (
	maxWords      = 1000
	defaultWindow = 200 // characters before and after a hit
	maxWindow     = 10_000
)

// keywords takes the blocks around words.
func keywords() *builtin {
	return &builtin{plugin.Descriptor{Name: "keywords",
		Summary: "Takes the blocks of text around words, with their hits; where there is none it can drop the page",
		Serves:  serving(needsText, textPoints...),
		Config: object([]string{"words"}, map[string]any{"words": texts("words or phrases, in any case"),
			"window":   prop("integer", "characters before and after a hit; default 200"),
			"field":    prop("string", "field that gets the blocks; default keywords"),
			"required": prop("boolean", "drop pages without a hit")})}, makeKeywords}
}

func makeKeywords(at crawl.Point, with map[string]any) (handler, error) {
	var set struct {
		Words    []string
		Window   *int
		Field    string
		Required bool
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if len(set.Words) == 0 || len(set.Words) > maxWords ||
		slices.ContainsFunc(set.Words, func(w string) bool { return strings.TrimSpace(w) == "" }) {
		return nil, bad("words", "want 1 to %d words, none of them empty", maxWords)
	}
	window := defaultWindow
	if set.Window != nil {
		window = *set.Window
	}
	if window < 0 || window > maxWindow {
		return nil, bad("window", "%d: want 0 to %d", window, maxWindow)
	}
	if set.Field == "" {
		set.Field = "keywords"
	}
	quoted := make([]string, len(set.Words))
	longest := slices.SortedFunc(slices.Values(set.Words), func(a, b string) int { return len(b) - len(a) })
	for i, w := range longest {
		quoted[i] = regexp.QuoteMeta(strings.TrimSpace(w))
	}
	words, err := regexp.Compile("(?i)" + strings.Join(quoted, "|"))
	if err != nil {
		return nil, bad("words", "%v", err)
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		found := blocks(pageIn(call.Message).text, words, window)
		switch {
		case len(found) > 0:
			return patchOf(at, nil, nil, map[string]any{set.Field: found}), nil
		case set.Required:
			return drop("no-keyword"), nil
		}
		return pass, nil
	}, nil
}

// blocks are the parts of a text around the hits; those that overlap are one.
func blocks(text string, words *regexp.Regexp, window int) (out []any) {
	type block struct{ start, end, hits int }
	var all []block
	for _, hit := range words.FindAllStringIndex(text, -1) {
		if !wholeWord(text, hit[0], hit[1]) {
			continue
		}
		b := block{back(text, hit[0], window), forth(text, hit[1], window), 1}
		if n := len(all); n > 0 && b.start <= all[n-1].end {
			all[n-1].end, all[n-1].hits = b.end, all[n-1].hits+1
			continue
		}
		if len(all) == maxItems {
			break
		}
		all = append(all, b)
	}
	for _, b := range all {
		out = append(out, map[string]any{"text": strings.TrimSpace(text[b.start:b.end]), "hits": float64(b.hits)})
	}
	return out
}

// wholeWord reports whether what lies between two places stands alone. Signs at its own ends, as in c++, are no
// letters. Scripts that set no spaces between words, and Korean, which adds endings to words, have words anywhere.
func wholeWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	first, _ := utf8.DecodeRuneInString(text[start:])
	after, _ := utf8.DecodeRuneInString(text[end:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	letter := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.In(r,
			unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
	}
	goesOn := letter(before) && letter(first) || letter(last) && letter(after)
	return !goesOn
}

func back(text string, from, n int) int {
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	return from
}

func forth(text string, from, n int) int {
	for ; n > 0 && from < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// personal are patterns of what says who somebody is.
var personal = map[string]func() *regexp.Regexp{
	"email": lazily(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`),
	"phone": lazily(`(\+|\b00)[1-9][0-9]{0,2}[ ./()-]{0,3}(\(0\))?([0-9][ ./()-]{0,3}){5,13}[0-9]|\(?\b0[1-9][0-9]{1,4}\)?[ ./-]{1,3}[0-9]{2,}([ ./-]?[0-9]{2,}){1,4}`),
	"iban":  lazily(`\b[A-Z]{2}[0-9]{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\b`),
	"card":  lazily(`\b[0-9]([ -]?[0-9]){12,18}\b`),
	"ip":    lazily(`\b([0-9]{1,3}\.){3}[0-9]{1,3}\b`),
}

// redact blackens what says who somebody is.
func redact() *builtin {
	kinds := make([]any, 0, len(personal))
	for _, k := range slices.Sorted(maps.Keys(personal)) {
		kinds = append(kinds, k)
	}
	return &builtin{plugin.Descriptor{Name: "redact", Summary: "Blackens e-mail addresses, telephone numbers, account " +
		"and card numbers, and what patterns match, in title, text and fields",
		Serves: serving(needsText, textPoints...),
		Config: object(nil, map[string]any{"kinds": map[string]any{"type": "array",
			"items":       map[string]any{"type": "string", "enum": kinds},
			"description": "what is looked for; default: email, phone, iban and card"},
			"patterns": texts("further regular expressions (RE2)"),
			"with":     prop("string", "what stands there instead; default: the kind in brackets"),
			"fields":   map[string]any{"type": "boolean", "default": true, "description": "the texts of fields too"}})},
		makeRedact}
}

type rule struct {
	name string
	re   *regexp.Regexp
	with string
}

func makeRedact(at crawl.Point, with map[string]any) (handler, error) {
	set := struct {
		Kinds, Patterns []string
		With            *string
		Fields          bool
	}{Fields: true}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if set.Kinds == nil && set.Patterns == nil {
		set.Kinds = []string{"email", "iban", "card", "phone"}
	}
	rules, err := rulesOf(set.Kinds, set.Patterns)
	if err != nil {
		return nil, err
	}
	for i := range rules {
		if set.With != nil {
			rules[i].with = *set.With
		}
	}
	return func(call *plugin.Call) (*plugin.Answer, error) {
		page := pageIn(call.Message)
		fields := map[string]any{}
		if set.Fields {
			for name, v := range page.fields {
				if now, changed := blacken(rules, v); changed {
					fields[name] = now
				}
			}
		}
		return patchOf(at, changedText(rules, page.title), changedText(rules, page.text), fields), nil
	}, nil
}

// rulesOf are the patterns of kinds, and further ones.
func rulesOf(kinds, patterns []string) ([]rule, error) {
	rules := make([]rule, 0, len(kinds)+len(patterns))
	for i, k := range kinds {
		re, ok := personal[k]
		if !ok {
			return nil, bad(fmt.Sprintf("kinds[%d]", i), "%q: want one of %s", k,
				strings.Join(slices.Sorted(maps.Keys(personal)), ", "))
		}
		rules = append(rules, rule{k, re(), "[" + k + "]"})
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return order(a.name) - order(b.name) })
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil || p == "" {
			return nil, bad(fmt.Sprintf("patterns[%d]", i), "%q is no regular expression (RE2): %v", p, err)
		}
		rules = append(rules, rule{"pattern", re, "[redacted]"})
	}
	return rules, nil
}

// order puts the longer kinds first: a card's number must not be taken for a telephone's.
func order(kind string) int {
	return slices.Index([]string{"email", "iban", "card", "ip", "phone"}, kind)
}

func changedText(rules []rule, text string) *string {
	now := blackened(rules, text)
	if now == text {
		return nil
	}
	return &now
}

func blackened(rules []rule, text string) string {
	for _, r := range rules {
		text = r.re.ReplaceAllStringFunc(text, func(hit string) string {
			if r.name == "card" && !luhn(hit) {
				return hit
			}
			return r.with
		})
	}
	return text
}

// luhn reports whether the digits have the check digit of ISO/IEC 7812-1.
func luhn(text string) bool {
	sum, double := 0, false
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// blacken does it in the texts of a value. The value itself stays as it is.
func blacken(rules []rule, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		now := blackened(rules, v)
		return now, now != v
	case []string:
		out, changed := slices.Clone(v), false
		for i := range out {
			out[i] = blackened(rules, out[i])
			changed = changed || out[i] != v[i]
		}
		return out, changed
	case []any:
		out, changed := slices.Clone(v), false
		for i := range out {
			now, other := blacken(rules, out[i])
			out[i], changed = now, changed || other
		}
		return out, changed
	case map[string]any:
		out, changed := maps.Clone(v), false
		for k, e := range out {
			now, other := blacken(rules, e)
			out[k], changed = now, changed || other
		}
		return out, changed
	}
	return v, false
}
