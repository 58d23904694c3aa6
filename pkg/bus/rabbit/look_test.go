package rabbit_test

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A look sees what waits and was not pulled, in its order, and leaves it so; what is pulled stays with who pulled it.
func TestALookLeavesTheTasksWhereTheyAre(t *testing.T) {
	q, err := rabbit.OpenQueues(t.Context(), rabbittest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	const n = 500
	items := make([]crawl.Queued, n)
	for i := range items {
		items[i] = crawl.Queued{Queue: "front.2",
			Task: crawl.Task{Job: "a", URL: urlOf(t, fmt.Sprintf("http://a.test/%d", i))}}
	}
	if err := q.Push(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	pulled := pull(t, q, "front.2", 10)
	look := func(most, from, want int) {
		t.Helper()
		var seen []string
		unread, err := q.Look(t.Context(), "front.2", most, func(t *crawl.Task) { seen = append(seen, t.URL.String()) })
		if err != nil || len(seen) != want || unread != int64(n-from-want) {
			t.Fatalf("%d of at most %d were seen, %d not, error %v; want %d", len(seen), most, unread, err, want)
		}
		for i, u := range seen {
			if u != fmt.Sprintf("http://a.test/%d", from+i) {
				t.Fatalf("task %d is %s", i, u)
			}
		}
	}
	look(1000, 10, n-10)
	look(20, 10, 20)
	if err := q.Settle(t.Context(), pulled...); err != nil {
		t.Fatal(err)
	}
	for from := 10; from < n; from += 98 {
		ds := pull(t, q, "front.2", 98)
		for i := range ds {
			if want := fmt.Sprintf("http://a.test/%d", from+i); ds[i].Task.URL.String() != want {
				t.Fatalf("after the looks %s came where %s was", ds[i].Task.URL, want)
			}
		}
		if err := q.Settle(t.Context(), ds...); err != nil {
			t.Fatal(err)
		}
		if from == 10 {
			look(1000, 108, n-108)
		}
	}
	for _, name := range []string{"front.2", "back.77"} { // empty, and none
		if unread, err := q.Look(t.Context(), name, 10, func(*crawl.Task) { t.Error("a task") }); unread != 0 || err != nil {
			t.Errorf("queue %s: %d, %v", name, unread, err)
		}
	}
}

func urlOf(t *testing.T, raw string) weburl.URL {
	t.Helper()
	return must(weburl.Parse(raw))(t)
}
