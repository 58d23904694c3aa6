package parse

import (
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// A guess looks at a sample of the text: long enough to be right, short enough not to cost more than the page.
const (
	minSample = 60
	maxSample = 200
)

// guessLang guesses the language of text; empty where it is too short or nothing is likely.
func guessLang(text string) string {
	if len(text) < minSample {
		return ""
	}
	info := whatlanggo.Detect(sample(text))
	if !info.IsReliable() {
		return ""
	}
	if code := info.Lang.Iso6391(); code != "" {
		return code
	}
	return info.Lang.Iso6393()
}

// sample takes the sample from a third into the text, past titles and bylines.
func sample(text string) string {
	if len(text) <= maxSample {
		return text
	}
	start := min(len(text)/3, len(text)-maxSample)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end := start + maxSample
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[start:end]
}
