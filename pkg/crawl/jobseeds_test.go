package crawl_test

import (
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Seeds that differ by a fragment, or by another spelling of one URL, count once.
func TestNewSeedsCountOnce(t *testing.T) {
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/x", "b.test"}
	got := job.NewSeeds([]string{"http://a.test/x#part", "HTTP://B.test:80/", "http://a.test/y#1", "http://a.test/y#2",
		"http://a.test/y", "no url://", "b.test/z"})
	if want := []string{"http://a.test/y#1", "no url://", "b.test/z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := job.NewSeeds([]string{"http://a.test/x#part"}); got != nil {
		t.Errorf("got %q, want none", got)
	}
}
