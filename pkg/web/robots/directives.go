package robots

import "strings"

// Directives are what a page says of itself in robots meta elements and X-Robots-Tag headers.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add adds the directives of a robots meta element.
func (d *Directives) Add(text string) {
	for word := range strings.SplitSeq(text, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			d.NoIndex, d.NoFollow = true, true
		}
	}
}

// AddTags adds those of X-Robots-Tag headers. Directives may be for one crawler: "otherbot: noindex, nofollow"; a name
// holds for what follows it up to the next one, and what is for others does not concern an agent.
func (d *Directives) AddTags(values []string, agent string) {
	for _, v := range values {
		ours := true
		for word := range strings.SplitSeq(v, ",") {
			if name, rest, ok := strings.Cut(word, ":"); ok && isAgent(strings.TrimSpace(name)) {
				ours, word = strings.EqualFold(strings.TrimSpace(name), agent), rest
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
