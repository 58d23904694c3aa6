package local

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestRevisits(t *testing.T) {
	storetest.Revisits(t, func(t *testing.T) (crawl.Revisits, func() crawl.Revisits) {
		dir := t.TempDir()
		s := openStore(t, dir)
		return s.Revisits(), func() crawl.Revisits {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir)
			return s.Revisits()
		}
	})
}

func TestUnremembered(t *testing.T) {
	storetest.Unremembered(t, func(t *testing.T) storetest.Visiting {
		s := openStore(t, t.TempDir())
		return storetest.Visiting{Unremembered: s, Ledger: s.URLs(), Log: s.AttemptLog(), Revisits: s.Revisits()}
	})
}
