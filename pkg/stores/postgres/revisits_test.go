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
