package fetcher

import (
	"net/http"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"120", "", 2 * time.Minute}, {" 7 ", "", 7 * time.Second}, {"-5", "", 0},
		{"1.5", "", 2 * time.Second}, {"30s", "", 30 * time.Second}, {"30 seconds", "", 30 * time.Second}, {"1.2.3", "", 0},
		{"1767323105", "", time.Minute}, {"10000000000000000", "", 24 * time.Hour}, {"1000", "", 1000 * time.Second},
		{"2026-01-02T03:05:05Z", "", time.Minute}, {"Fri, 02 Jan 2026 04:05:05 +0100", "", time.Minute},
		{"soon", "", 0}, {"86401", "", 24 * time.Hour}, {"99999999999999999999", "", 24 * time.Hour},
		{"9223372036854775807", "", 24 * time.Hour},
		{"Fri, 02 Jan 2026 03:05:05 GMT", "", time.Minute},
		{"Fri, 02 Jan 2026 03:03:05 GMT", "", 0},
		{"Friday, 02-Jan-26 03:05:05 GMT", "", time.Minute},
		{"Fri Jan  2 03:05:05 2026", "", time.Minute},
		{"Sat, 01 Jan 2050 00:00:00 GMT", "", 24 * time.Hour},
		// The server's clock is a year behind; its Date says so.
		{"Thu, 02 Jan 2025 03:05:05 GMT", "Thu, 02 Jan 2025 03:04:35 GMT", 30 * time.Second},
		{"30", "Thu, 02 Jan 2025 03:04:35 GMT", 30 * time.Second},
	} {
		h := http.Header{}
		h.Set("Retry-After", tc.value)
		h.Set("Date", tc.date)
		if got := retryAfter(h, now, 24*time.Hour); got != tc.want {
			t.Errorf("Retry-After %q, Date %q: %v, want %v", tc.value, tc.date, got, tc.want)
		}
	}
}

func TestRetryAfterReachesTheOutcome(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "90")
		status := http.StatusServiceUnavailable
		if r.URL.Path == "/gateway" {
			status = http.StatusBadGateway
		}
		w.WriteHeader(status)
	})
	b := newBench(t, nil)
	if r := b.get(url+"/gateway", nil); r.RetryAfter != 90*time.Second || !r.Slow {
		t.Errorf("502: retry after %v, slow %v", r.RetryAfter, r.Slow)
	}
	if r := b.get(url, nil); r.RetryAfter != 90*time.Second || !r.Slow {
		t.Errorf("retry after %v, slow %v", r.RetryAfter, r.Slow)
	}
	b.job.Retry.SlowMax = crawl.Duration(time.Minute)
	if r := b.get(url, nil); r.RetryAfter != time.Minute {
		t.Errorf("retry after %v, want slow_max", r.RetryAfter)
	}
}

// On a redirect Retry-After is about its target (RFC 9110, section 10.2.3).
func TestRetryAfterOfRedirects(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.Header().Set("Location", "/there")
		if r.URL.Path == "/away" {
			w.Header().Set("Location", "http://elsewhere.example/")
		}
		w.WriteHeader(http.StatusFound)
	})
	b := newBench(t, nil)
	for path, want := range map[string]time.Duration{"/": 90 * time.Second, "/away": 0} {
		r := b.get(url+path, nil)
		r.want(t, crawl.VerdictDone, "")
		if r.RetryAfter != want || r.Slow != (want > 0) || r.links == nil {
			t.Errorf("%s: retry after %v, slow %v, links %v", path, r.RetryAfter, r.Slow, r.links)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Fri, 02 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026 03:04:05 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		if got := retryAfter(h, time.Unix(1e9, 0), time.Hour); got < 0 || got > time.Hour {
			t.Errorf("%v is out of bounds", got)
		}
	})
}
