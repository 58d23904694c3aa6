package robots_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
)

// TestDirectives has what sites write beside commas, and values of directives that read like others.
func TestDirectives(t *testing.T) {
	const index, follow = 1, 2
	for text, want := range map[string]int{
		"noindex,nofollow": index | follow, "NoIndex, NoFollow": index | follow, "none": index | follow,
		"noindex nofollow": index | follow, "noindex;nofollow": index | follow, "index\n nofollow": follow,
		"noindex\u00a0nofollow": index | follow, " , noindex ,": index, "noindex/nofollow": 0, "nonoindex": 0,
		"max-image-preview:none, nofollow": follow, "max-image-preview: none": 0, "max-snippet: -1 noindex": index,
		"max-image-preview: none; noindex": index, "all": 0, "index, follow": 0, "": 0,
	} {
		var d robots.Directives
		d.Add(text)
		if want != said(d) {
			t.Errorf("%q: %+v", text, d)
		}
	}
	for text, want := range map[string]int{
		"noindex nofollow": index | follow, "*: noindex": index, "otherbot: noindex; whirlpool: nofollow": follow,
		"noindex;max-image-preview:none": index, "whirlpool: max-image-preview: none": 0,
		"otherbot: none, *: nofollow": follow, "whirlpool:none": index | follow, "max-video-preview: none": 0,
	} {
		var d robots.Directives
		d.AddTags([]string{text}, "whirlpool")
		if want != said(d) {
			t.Errorf("tag %q: %+v", text, d)
		}
	}
}

func said(d robots.Directives) (n int) {
	if d.NoIndex {
		n = 1
	}
	if d.NoFollow {
		n |= 2
	}
	return n
}
