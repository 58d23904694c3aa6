package storetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestFollowingInMemory(t *testing.T) {
	storetest.Following(t, func(*testing.T) crawl.Following { return storetest.NewFollowing() })
	t.Run("for a while", func(t *testing.T) {
		storetest.Following(t, func(*testing.T) crawl.Following {
			f := storetest.NewFollowing()
			f.Keep = time.Minute
			return f
		})
	})
}

func TestSplitsInMemory(t *testing.T) {
	storetest.Splits(t, func(*testing.T) storetest.SplitsFollowing { return storetest.NewFollowing() })
}

// Pages that nobody waits for are forgotten, neither too soon nor much too late; pages that somebody waits for never
// are. A forgotten page that is expected again starts anew.
func TestFollowingInMemoryForgetsWhatNobodyWaitsFor(t *testing.T) {
	var u []weburl.URL
	for _, s := range []string{"http://a.test/whole", "http://a.test/early", "http://a.test/waits",
		"http://a.test/other"} {
		p, err := weburl.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		u = append(u, p)
	}
	whole, early, waits, other := u[0], u[1], u[2], u[3]
	for _, tt := range []struct {
		name        string
		keep, after time.Duration
		waiting     int64
	}{
		{"remembered", time.Minute, 59 * time.Second, 1},
		{"forgotten", time.Minute, 2 * time.Minute, 3},
		{"kept for ever", 0, 24 * time.Hour, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := storetest.NewFollowing()
				f.Keep = tt.keep
				expect := func(u ...weburl.URL) {
					if err := f.Expect(t.Context(), storetest.Tasks("j", u...)...); err != nil {
						t.Fatal(err)
					}
				}
				claimed := func(u weburl.URL, s crawl.Share) {
					if err := f.Claimed(t.Context(), "j", u, s); err != nil {
						t.Fatal(err)
					}
				}
				expect(whole, waits)
				claimed(whole, crawl.Share{Of: 1})
				claimed(early, crawl.Share{Of: 1})
				claimed(waits, crawl.Share{Of: 2})
				time.Sleep(tt.after)
				claimed(other, crawl.Share{Of: 1}) // something happens
				claimed(waits, crawl.Share{Of: 2})
				expect(whole, early)
				if n, err := f.Waiting(t.Context(), "j"); n != tt.waiting || err != nil {
					t.Errorf("%d pages wait, error %v; want %d", n, err, tt.waiting)
				}
			})
		})
	}
}
