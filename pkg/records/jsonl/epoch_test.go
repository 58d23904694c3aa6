package jsonl_test

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// TestTheEpochOfARevisionIsTold: that of the first is not, so that the files of a job that was never revised are what
// they were.
func TestTheEpochOfARevisionIsTold(t *testing.T) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	for epoch, want := range map[uint32]uint32{0: 0, 1: 0, 2: 2, 1 << 31: 1 << 31} {
		record := jsonl.AppendRecord(nil, &crawl.Record{URL: u, Epoch: epoch})
		line := jsonl.AppendLogLine(nil, &crawl.LogLine{URL: u, Epoch: epoch})
		r, err := jsonl.ParseRecord(record)
		l, err2 := jsonl.ParseLogLine(line)
		if err != nil || err2 != nil || r.Epoch != want || l.Epoch != want {
			t.Errorf("epoch %d comes back as %+v, %+v, errors %v, %v", epoch, r, l, err, err2)
		}
		if want == 0 && strings.Contains(string(record)+string(line), "epoch") {
			t.Errorf("epoch %d is told: %s%s", epoch, record, line)
		}
	}
}
