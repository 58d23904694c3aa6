package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Tasks returns a task a URL, with nothing else set.
func Tasks(job crawl.JobID, urls ...weburl.URL) []crawl.Task {
	out := make([]crawl.Task, len(urls))
	for i := range urls {
		out[i] = crawl.Task{Job: job, URL: urls[i]}
	}
	return out
}

// id is the message id that stands for a name.
func id(name string) crawl.MessageID { return crawl.MessageID{}.Child(name, 0) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func urls(t *testing.T, raw ...string) []weburl.URL {
	t.Helper()
	out := make([]weburl.URL, len(raw))
	for i, r := range raw {
		var err error
		out[i], err = weburl.Parse(r)
		check(t, err)
	}
	return out
}

func tasks(u []weburl.URL) []crawl.Task { return Tasks(job, u...) }

// manyURLs returns n URLs on so many hosts.
func manyURLs(t *testing.T, n, hosts int) []weburl.URL {
	t.Helper()
	raw := make([]string, n)
	for i := range raw {
		raw[i] = fmt.Sprintf("http://host%d.test/page/%d", i%hosts, i)
	}
	return urls(t, raw...)
}

// sameTime compares to the microsecond, which stores keep.
func sameTime(a, b time.Time) bool { return a.Sub(b).Abs() < time.Microsecond }
