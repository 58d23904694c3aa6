package main

import (
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// delivering says which outputs have not all that is stored, and how far they are; empty: all have it.
func delivering(outputs []node.OutputState) string {
	var names []string
	for i := range outputs {
		if o := &outputs[i]; !o.Whole {
			names = append(names, fmt.Sprintf("%s (%s so far)", o.Node, plural(o.Figures.Rows, "row")))
		}
	}
	return strings.Join(names, ", ")
}

// atRest reports whether nothing is asked for any more: what the crawl still waits for are its outputs. Of queued URLs
// those wait for nothing that max_pages leaves.
func (p *progress) atRest(maxPages, fetched int64) bool {
	return p.InFlight == 0 && p.Waiting == 0 && (p.Queued == 0 || maxPages > 0 && fetched >= maxPages)
}

// undelivered says at the end that a crawl was stopped before its outputs had all: its figures do not show it.
func (v *view) undelivered(behind string) {
	if behind != "" && !v.stream && !v.temporary {
		fmt.Fprintf(v.screen, "  not all is delivered to %s: the same command delivers the rest\n", behind)
	}
}
