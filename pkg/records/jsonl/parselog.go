package jsonl

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

type logJSON struct {
	Time        time.Time  `json:"time"`
	URL         anyHref    `json:"url"`
	Kind        string     `json:"kind"`
	Verdict     string     `json:"verdict"`
	Status      int        `json:"status"`
	Reason      string     `json:"reason"`
	Detail      string     `json:"detail"`
	Bytes       int64      `json:"bytes"`
	Millis      float64    `json:"ms"`
	FirstByte   float64    `json:"first_byte_ms"`
	Attempt     int        `json:"attempt"`
	Depth       int        `json:"depth"`
	ContentType string     `json:"content_type"`
	Digest      digest     `json:"digest"`
	Addr        netip.Addr `json:"addr"`
	Referrer    href       `json:"referrer"`
	Location    href       `json:"location"`
	Epoch       uint32     `json:"epoch"`
	Visit       int        `json:"visit"`
	Priority    int        `json:"priority"`
	Finds       int        `json:"finds"`
	HostLinks   int        `json:"host_links"`
	Topic       *float64   `json:"topic"`
}

// ParseLogLine reads one line of crawl.log; the newline may be missing. Keys that it does not know are passed over;
// kinds and verdicts that it does not know are errors.
func ParseLogLine(line []byte) (*crawl.LogLine, error) {
	var j logJSON
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, fmt.Errorf("parse a log line: %w", err)
	}
	kind, err := kindNamed(j.Kind)
	if err != nil {
		return nil, err
	}
	verdict, err := verdictNamed(j.Verdict)
	if err != nil {
		return nil, err
	}
	return &crawl.LogLine{
		At: j.Time.UTC(), URL: weburl.URL(j.URL), Kind: kind, Verdict: verdict, Status: j.Status, Reason: j.Reason,
		Detail: j.Detail, Bytes: j.Bytes, Duration: millis(j.Millis), FirstByte: millis(j.FirstByte), Attempt: j.Attempt,
		Depth: j.Depth, ContentType: j.ContentType, Digest: crawl.Digest(j.Digest), Addr: j.Addr,
		Referrer: weburl.URL(j.Referrer), Location: weburl.URL(j.Location), Epoch: j.Epoch, Visit: j.Visit,
		Priority: j.Priority, Finds: j.Finds, HostLinks: j.HostLinks, Relevance: relevance(j.Topic),
	}, nil
}

func millis(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1000)) * time.Microsecond
}

func kindNamed(name string) (crawl.Kind, error) {
	if k, ok := crawl.KindNamed(name); ok {
		return k, nil
	}
	return 0, fmt.Errorf("parse a log line: kind %q is unknown", name)
}

func verdictNamed(name string) (crawl.Verdict, error) {
	for v := crawl.VerdictNone; v <= crawl.VerdictInterrupted; v++ {
		if v.String() == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("parse a log line: verdict %q is unknown", name)
}
