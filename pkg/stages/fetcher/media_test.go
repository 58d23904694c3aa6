package fetcher

import "testing"

// A feed that a page names may be JSON; of seeds only what is a feed by its type is taken for one.
func TestMediaTypesOfFeeds(t *testing.T) {
	for media, want := range map[string]struct{ seed, source bool }{
		"application/rss+xml": {true, true}, "application/x-gzip": {true, true}, "application/feed+json": {true, true},
		"application/json": {false, true}, "text/plain": {false, true}, "image/png": {false, false},
	} {
		if seed, source := isFeed(media), acceptsSitemap(media); seed != want.seed || source != want.source {
			t.Errorf("%s: as a seed %v, as a source of links %v", media, seed, source)
		}
	}
}
