package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Pages fetched by versions that stored no reasons have no known reason for a missing record. They must not be reported
// as lost.
func TestPagesOfEarlierBuildsAreNotLost(t *testing.T) {
	ctx, url := context.Background(), newDatabase(t)
	s := openAt(t, url)
	u := manyURLs(t, 0, 3, 2) // kept, not kept, gone
	keys := []weburl.Key{u[0].Key(), u[1].Key(), u[2].Key()}
	check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: keys[0], Verdict: crawl.VerdictDone, Status: 200},
		crawl.Entry{Key: keys[1], Verdict: crawl.VerdictDone, Status: 200},
		crawl.Entry{Key: keys[2], Verdict: crawl.VerdictGone, Status: 404}))
	_, err := s.ContentSet().Claim(ctx, crawl.Fingerprint{Job: "job", URL: u[0], Digest: crawl.Digest{1}}, -1, nil)
	check(t, err)
	s.Close()
	check(t, postgres.DownTo(ctx, url, 5))
	got, err := openAt(t, url).Unkept().Reasons(ctx, "job", keys...)
	check(t, err)
	if want := []string{"", "earlier-build", ""}; !slices.Equal(got, want) {
		t.Errorf("reasons are %q, want %q", got, want)
	}
}
