package robots

import (
	"strings"
	"unicode"
)

// Directives are what a page says of itself in robots meta elements and X-Robots-Tag headers.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add adds the directives of a robots meta element. Commas part them; sites write spaces and semicolons as well. The
// value of a directive, as in "max-image-preview: none", is none itself.
func (d *Directives) Add(text string) {
	value := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), partsDirectives) {
		if value {
			value = false
			continue
		}
		switch word {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			d.NoIndex, d.NoFollow = true, true
		}
		value = strings.HasSuffix(word, ":")
	}
}

func partsDirectives(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }

// AddTags adds those of X-Robots-Tag headers. Directives may be for one crawler: "otherbot: noindex, nofollow"; a name
// holds for what follows it up to the next one, and what is for others does not concern an agent.
func (d *Directives) AddTags(values []string, agent string) {
	for _, v := range values {
		ours := true
		for word := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ';' }) {
			if name, rest, ok := strings.Cut(word, ":"); ok && isAgent(strings.TrimSpace(name)) {
				name = strings.TrimSpace(name)
				ours, word = name == wildcardAgent || strings.EqualFold(name, agent), rest
			}
			if ours {
				d.Add(word)
			}
		}
	}
}

// isAgent reports whether what is before the first colon names a crawler, and is not a directive with a value.
func isAgent(s string) bool {
	switch strings.ToLower(s) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return s != "" && !strings.ContainsAny(s, ", ")
}
