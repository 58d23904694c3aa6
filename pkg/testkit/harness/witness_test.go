package harness

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func TestAnswersEndWithTheClient(t *testing.T) {
	for name, tt := range map[string]struct {
		entry  fakeweb.Entry
		deaths []int64
		want   int64
	}{
		"cut by a death":                   {fakeweb.Entry{Start: 10, End: 30, Cut: true}, []int64{20}, 20},
		"cut by the first of two":          {fakeweb.Entry{Start: 10, End: 30, Cut: true}, []int64{25, 5, 15}, 15},
		"cut before":                       {fakeweb.Entry{Start: 10, End: 30, Cut: true}, []int64{40}, 30},
		"whole, though the client is dead": {fakeweb.Entry{Start: 10, End: 30}, []int64{20}, 30},
	} {
		deaths := func(fakeweb.Entry) (all []time.Time) {
			for _, d := range tt.deaths {
				all = append(all, time.Unix(0, d))
			}
			return all
		}
		if got := EndWithTheClient([]fakeweb.Entry{tt.entry}, deaths)[0].End; got != tt.want {
			t.Errorf("%s: ended at %d, want %d", name, got, tt.want)
		}
	}
}
