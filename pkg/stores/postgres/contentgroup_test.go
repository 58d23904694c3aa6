package postgres_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// refuseSQL makes the server refuse one page.
const refuseSQL = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN RAISE 'not this page' USING ERRCODE = 'check_violation'; END$$;
	CREATE TRIGGER refuse BEFORE INSERT ON fingerprints FOR EACH ROW WHEN (new.url = 'http://host0.test/page/0')
	EXECUTE FUNCTION refuse()`

// claimAtOnce claims new content of all pages at once, and returns the error of each.
func claimAtOnce(s *postgres.Store, pages []weburl.URL) []error {
	faults := make([]error, len(pages))
	var all sync.WaitGroup
	for i, u := range pages {
		all.Go(func() {
			key := u.Key()
			fp := crawl.Fingerprint{Job: job, URL: u, Digest: sha256.Sum256(key[:]), Simhash: uint64(i) << 32, Sketch: key[:]}
			_, faults[i] = s.ContentSet().Claim(context.Background(), fp, 0, nil)
		})
	}
	all.Wait()
	return faults
}

// Claims that meet are one transaction.
func TestClaimsOfContentThatMeetAreSentTogether(t *testing.T) {
	url := newDatabase(t)
	s := openAt(t, url)
	for _, err := range claimAtOnce(s, manyURLs(t, 1, 256, 7)) {
		check(t, err)
	}
	transactions := ask[int](t, url, `SELECT count(DISTINCT xmin::text) FROM fingerprints`)
	if transactions >= 256 {
		t.Error("each claim had a transaction of its own")
	}
	if transactions < 256/16 {
		t.Errorf("256 claims were %d transactions: a group holds more locks than it may", transactions)
	}
}

// One that the server refuses for good costs its neighbours nothing.
func TestAClaimThatIsRefusedLeavesItsGroupAlone(t *testing.T) {
	url := newDatabase(t)
	execute(t, url, refuseSQL)
	s := openAt(t, url)
	for i, err := range claimAtOnce(s, manyURLs(t, 0, 64, 7)) {
		switch {
		case i > 0:
			check(t, err)
		case err == nil || !strings.Contains(err.Error(), "http://host0.test/page/0"):
			t.Errorf("the page that is refused: error %v", err)
		}
	}
	if n := ask[int](t, url, `SELECT count(*) FROM fingerprints`); n != 63 {
		t.Errorf("%d of 63 claims are stored", n)
	}
}
