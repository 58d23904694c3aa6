package parser

import "strings"

// maxScanned bounds the work of a pattern on a page: the bytes of each line once, and once more for each match in it.
const maxScanned = 32 << 20

// takeMatches makes an object of each match of the policy's pattern in a line of the text: the first group, or the
// whole match, as its text, and the groups that have names.
func (s *selection) takeMatches(p *policy, add func(map[string]any) bool) {
	names, work := p.regex.SubexpNames(), maxScanned
	for line := range strings.Lines(s.text) {
		line = strings.TrimSuffix(line, "\n")
		most := 1
		if p.List {
			most = min(maxValues+1, work/max(len(line), 1))
		}
		if most < 1 {
			s.r.cut(CutFields)
			return
		}
		found := p.regex.FindAllStringSubmatch(line, most)
		work -= (len(found) + 1) * len(line)
		for _, m := range found {
			if !add(s.matchOf(m, names)) || !p.List {
				return
			}
		}
		if p.List && len(found) == most {
			s.r.cut(CutFields)
		}
	}
}

// matchOf is the object of a match; an empty match makes none.
func (s *selection) matchOf(m, names []string) map[string]any {
	object := map[string]any{}
	if text := m[min(1, len(m)-1)]; text != "" {
		s.keep(object, textMember, text)
	}
	for i, name := range names {
		if name != "" && m[i] != "" {
			s.keep(object, name, m[i])
		}
	}
	return object
}

// takeWords makes an object of each block of the text around hits of the policy's keywords: the block, how many hits it
// has, and of which keywords.
func (s *selection) takeWords(p *policy, add func(map[string]any) bool) {
	for b := range p.words.blocks(s.text, p.WindowRunes()) {
		keywords := make([]any, len(b.keywords))
		for i, k := range b.keywords {
			keywords[i] = k
		}
		object := map[string]any{"count": float64(b.count), "keywords": keywords}
		s.keep(object, textMember, strings.TrimSpace(s.text[b.start:b.end]))
		if !add(object) {
			return
		}
	}
}
