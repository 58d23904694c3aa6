package harness

import (
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// EndWithTheClient corrects a server's log by what it cannot know: an answer that was cut because the client was
// killed ended at the death, and not when a busy server noticed. deaths are those of the clients that may have made a
// request.
func EndWithTheClient(log []fakeweb.Entry, deaths func(fakeweb.Entry) []time.Time) []fakeweb.Entry {
	for i, e := range log {
		if !e.Cut {
			continue
		}
		for _, at := range slices.SortedFunc(slices.Values(deaths(e)), time.Time.Compare) {
			if dead := at.UnixNano(); dead > e.Start && dead < e.End {
				log[i].End = dead
				break
			}
		}
	}
	return log
}
