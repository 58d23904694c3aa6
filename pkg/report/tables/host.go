package tables

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Host is a row of the report of hosts.
type Host struct {
	URLs     int64 `json:"urls"` // that ended, those left out aside
	Bytes    int64 `json:"bytes"`
	Requests int64 `json:"requests"` // robots.txt and further attempts among them
	Done     int64 `json:"done"`
	Gone     int64 `json:"gone"`
	Blocked  int64 `json:"blocked"`
	Refused  int64 `json:"refused"`
	Failed   int64 `json:"failed"`
	Excluded int64 `json:"excluded"`
	// Remaining are its URLs that are queued or in flight; nil: the crawl runs in another process, which has the ledger.
	Remaining *int64     `json:"remaining,omitempty"`
	Rate      float64    `json:"requests_per_second"` // from the first to the last request
	ByteRate  float64    `json:"bytes_per_second"`
	Host      string     `json:"host"`
	First     time.Time  `json:"first,omitzero"` // request
	Last      time.Time  `json:"last,omitzero"`
	Error     *HostError `json:"last_error,omitempty"`
}

// HostError is what went wrong last with a request to a host.
type HostError struct {
	At     time.Time `json:"time"`
	URL    string    `json:"url"`
	Status int       `json:"status,omitempty"`
	Reason string    `json:"reason"`
	Detail string    `json:"detail,omitempty"`
}

// request counts a line about a request.
func (h *Host) request(e *entry) {
	if !e.asked() {
		return
	}
	h.Requests, h.Bytes = h.Requests+1, h.Bytes+e.bytes
	if h.First.IsZero() || e.at.Before(h.First) {
		h.First = e.at
	}
	if e.at.After(h.Last) {
		h.Last = e.at
	}
	if e.wrong() && (h.Error == nil || !e.at.Before(h.Error.At)) {
		h.Error = &HostError{At: e.at, URL: e.url, Status: e.status, Reason: e.reason, Detail: e.detail}
	}
}

// outcome counts what became of a URL.
func (h *Host) outcome(v crawl.Verdict) {
	count := map[crawl.Verdict]*int64{crawl.VerdictDone: &h.Done, crawl.VerdictGone: &h.Gone,
		crawl.VerdictBlocked: &h.Blocked, crawl.VerdictRefused: &h.Refused, crawl.VerdictFailed: &h.Failed,
		crawl.VerdictExcluded: &h.Excluded}[v]
	if count == nil {
		return
	}
	*count++
	if v != crawl.VerdictExcluded {
		h.URLs++
	}
}

// finish computes the rates.
func (h *Host) finish() {
	if span := h.Last.Sub(h.First).Seconds(); span > 0 {
		h.Rate, h.ByteRate = round(float64(h.Requests)/span), round(float64(h.Bytes)/span)
	}
}

func round(f float64) float64 { return float64(int64(f*100+0.5)) / 100 }

// row is the host for a spill that sorts hosts: the most URLs first, then by name.
func (h *Host) row() ([]byte, error) {
	data, err := json.Marshal(h)
	row := binary.BigEndian.AppendUint64(nil, ^uint64(h.URLs))
	return append(append(append(row, h.Host...), 0), data...), err
}

func (h *Host) fromRow(row []byte) error {
	_, data, ok := strings.Cut(string(row[8:]), "\x00")
	if !ok {
		return errEntry
	}
	return json.Unmarshal([]byte(data), h)
}

var hostColumns = []column{{"urls", 8}, {"bytes", 12}, {"requests", 8}, {"done", 7}, {"gone", 6}, {"blocked", 7},
	{"refused", 7}, {"failed", 6}, {"excluded", 8}, {"remaining", 9}, {"requests/s", 10}, {"bytes/s", 11}, {"host", -40},
	{"last error", 0}}

func (h *Host) cells() []string {
	left, wrong := "", ""
	if h.Remaining != nil {
		left = number(*h.Remaining)
	}
	if e := h.Error; e != nil {
		wrong = e.Reason
		if e.Status > 0 {
			wrong += fmt.Sprintf(" %d", e.Status)
		}
		wrong += " " + e.URL
	}
	return []string{number(h.URLs), number(h.Bytes), number(h.Requests), number(h.Done), number(h.Gone), number(h.Blocked),
		number(h.Refused), number(h.Failed), number(h.Excluded), left, fmt.Sprintf("%.2f", h.Rate),
		fmt.Sprintf("%.0f", h.ByteRate), h.Host, wrong}
}
