// Package ruletest applies site rules to a page as the parser does, and tells where in the page's source each value was
// found. It proposes selectors for an element that people pick from the outline of a page.
package ruletest

// Result is what rules found in a page.
type Result struct {
	Matches []Match  `json:"matches"`
	Missing []string `json:"missing"`       // fields of rules for the page that found nothing: rule/field
	Others  []string `json:"others"`        // rules that are not for the URL
	Cut     bool     `json:"cut,omitempty"` // there are more matches than are told
}

// Match is a value and where it stands.
type Match struct {
	Rule  string `json:"rule"`
	Field string `json:"field"`
	Value any    `json:"value"`           // as it would be in the record
	Taken bool   `json:"taken"`           // the record gets it: of fields with one name the first rule's counts
	Range *Range `json:"range,omitempty"` // nil: the expression gave no place in the page
	Path  string `json:"path,omitempty"`  // of the element, such as html > body > div.offer > h2
}

// Range is a part of the source: lines from 1, columns from 1 in characters, offsets in bytes. The end is behind it.
type Range struct {
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"end_line"`
	EndColumn int `json:"end_column"`
	Start     int `json:"start"`
	End       int `json:"end"`
}
