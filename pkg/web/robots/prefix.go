package robots

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// prefix is a pattern without wildcards: by far the most common kind, found by binary search.
type prefix struct {
	rule
	text   string // the pattern in comparison form
	parent int32  // the longest other text that this one starts with, -1 if none
}

// linkPrefixes sorts the prefixes by text, keeps of equal ones the rule that decides, and sets the parents.
func linkPrefixes(list []prefix) []prefix {
	slices.SortFunc(list, func(a, b prefix) int {
		return cmp.Or(strings.Compare(a.text, b.text), a.order(b.rule))
	})
	list = slices.CompactFunc(list, func(a, b prefix) bool { return a.text == b.text })
	for i := range list {
		parent := int32(i - 1)
		for parent >= 0 && !strings.HasPrefix(list[i].text, list[parent].text) {
			parent = list[parent].parent
		}
		list[i].parent = parent
	}
	return list
}

// longestPrefix returns the rule with the longest text that path starts with, or nil.
//
// All texts sorted between a prefix of the path and the path itself start with that prefix; so the last text not
// after the path either is the one we look for or has it among its parents.
func longestPrefix(list []prefix, path string) *rule {
	i := int32(sort.Search(len(list), func(i int) bool { return list[i].text > path })) - 1
	for i >= 0 && !strings.HasPrefix(path, list[i].text) {
		i = list[i].parent
	}
	if i < 0 {
		return nil
	}
	return &list[i].rule
}
