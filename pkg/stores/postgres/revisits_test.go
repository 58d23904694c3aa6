package postgres_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestRevisits(t *testing.T) {
	storetest.Revisits(t, func(t *testing.T) (crawl.Revisits, func() crawl.Revisits) {
		return open(t).Revisits(), func() crawl.Revisits { return openAt(t, sharedDatabase(t)).Revisits() }
	})
}

func TestLedgerVisits(t *testing.T) {
	storetest.LedgerVisits(t, func(t *testing.T) storetest.LedgerSet { return open(t).URLs() })
}

func TestUnremembered(t *testing.T) {
	storetest.Unremembered(t, func(t *testing.T) storetest.Visiting {
		s := open(t)
		return storetest.Visiting{Unremembered: s.Revisits(), Ledger: s.URLs(), Log: s.AttemptLog(), Revisits: s.Revisits()}
	})
}
