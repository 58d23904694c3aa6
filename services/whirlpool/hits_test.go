package main

import (
	"strings"
	"testing"
)

// Hits prints a table for people and JSON for programs, of the same pages.
func TestHitsPrintsATableOrJSON(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"hosts":   {nil, "HOST\n"},
		"domains": {[]string{"--by", "domain"}, "DOMAIN\n"},
		"URLs":    {[]string{"--by", "url", "--top", "3"}, "URL\n"},
		"JSON":    {[]string{"--json"}, `"top":[`},
	} {
		t.Run(name, func(t *testing.T) {
			out := must(t, append([]string{"hits", "-o", crawled(t)}, tt.args...)...)
			if !strings.Contains(out, tt.want) || name == "URLs" && strings.Count(out, "\n") != 4 {
				t.Errorf("want %q in %q", tt.want, out)
			}
		})
	}
}
