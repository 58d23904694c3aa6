package postgres_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// refuseSQL makes the server refuse one page.
const refuseSQL = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN RAISE 'not this page' USING ERRCODE = 'check_violation'; END$$;
	CREATE TRIGGER refuse BEFORE INSERT ON fingerprints FOR EACH ROW WHEN (new.url = 'http://host0.test/page/0')
	EXECUTE FUNCTION refuse()`

// stallSQL makes the server take its time for one page, as a lock does that nobody gives back.
const stallSQL = `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN PERFORM pg_sleep(60); RETURN new; END$$;
	CREATE TRIGGER stall BEFORE INSERT ON fingerprints FOR EACH ROW WHEN (new.url = 'http://host0.test/page/0')
	EXECUTE FUNCTION stall()`

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

// One that is kept waiting keeps its neighbours for a part of their time only.
func TestAClaimThatWaitsKeepsItsGroupForAMoment(t *testing.T) {
	url := newDatabase(t)
	execute(t, url, stallSQL)
	cfg := config(url)
	cfg.Timeout = 10 * time.Second
	s, err := postgres.Open(context.Background(), cfg)
	check(t, err)
	t.Cleanup(s.Close)
	for i, err := range claimAtOnce(s, manyURLs(t, 0, 32, 7)) {
		if (err == nil) != (i > 0) {
			t.Errorf("page %d: error %v", i, err)
		}
	}
}
