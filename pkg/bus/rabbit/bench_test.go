package rabbit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// cpu is processor time that was used so far, by this process and by the broker (where that runs on this machine).
func cpu(b *testing.B, broker int) (ours, theirs time.Duration) {
	ours, ok := system.ProcessorTime()
	if !ok {
		b.Fatal("the processor time is not known")
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", broker))
	if err != nil {
		return ours, 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return ours, time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

func brokerPID(b *testing.B) int {
	u, _ := url.Parse(servicetest.RabbitMQAPI(b))
	r, err := http.Get(u.JoinPath("api/nodes").String())
	if err != nil {
		b.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer r.Body.Close()
	var nodes []struct {
		PID string `json:"os_pid"`
	}
	if err := json.NewDecoder(r.Body).Decode(&nodes); err != nil || len(nodes) == 0 {
		b.Fatal("no node tells its process id", err)
	}
	pid, _ := strconv.Atoi(nodes[0].PID)
	return pid
}

// measured reports messages per second, and processor time per message, of what run does.
func measured(b *testing.B, messages int, run func()) {
	pid := brokerPID(b)
	ours, theirs := cpu(b, pid)
	start := time.Now()
	run()
	took := time.Since(start)
	ours2, theirs2 := cpu(b, pid)
	n := float64(messages)
	b.ReportMetric(n/took.Seconds(), "msgs/s")
	b.ReportMetric(float64((ours2-ours).Microseconds())/n, "our-µs/msg")
	b.ReportMetric(float64((theirs2-theirs).Microseconds())/n, "broker-µs/msg")
	b.ReportMetric(0, "ns/op")
}

// page is an event of about 1 KiB encoded.
func page(n int) bus.Message {
	u, err := weburl.Parse(fmt.Sprintf("http://host%d.example.test/a/path/to/page?n=%d", n%97, n))
	if err != nil {
		panic(err)
	}
	task := crawl.Task{Job: "bench", URL: u, Depth: 3, Referrer: u}
	return bus.Message{ID: task.ID(),
		Event: &crawl.Page{Task: task, Status: 200, FetchedAt: time.Now(), ContentType: "text/html",
			LinkHeaders: []string{strings.Repeat("x", 700)}}}
}

func wide(cfg *rabbit.Config) { cfg.MaxLength = 1 << 30 }

func publishAll(b *testing.B, bs bus.Bus, goroutines, group, n int, build func(int) bus.Message) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for {
				from := int(next.Add(int64(group))) - group
				if from >= n {
					return
				}
				var msgs []bus.Message
				for i := from; i < min(from+group, n); i++ {
					msgs = append(msgs, build(i))
				}
				if err := bs.Publish(context.Background(), msgs...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkPublish publishes persistent messages of 1 KiB, confirmed.
func BenchmarkPublish(b *testing.B) {
	for _, c := range []struct{ goroutines, group int }{{1, 1}, {1, 500}, {8, 1}, {64, 1}, {64, 8}, {512, 2}} {
		b.Run(fmt.Sprintf("goroutines=%d/group=%d", c.goroutines, c.group), func(b *testing.B) {
			bs := rabbittest.Bus(b, wide)
			publishAll(b, bs, 1, 1, 10, page)
			measured(b, b.N, func() { publishAll(b, bs, c.goroutines, c.group, b.N, page) })
		})
	}
}

// BenchmarkConsume delivers waiting messages to handlers that do nothing, and acknowledges them.
func BenchmarkConsume(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			bs := rabbittest.Bus(b, wide)
			publishAll(b, bs, 8, 100, b.N, page)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var left atomic.Int64
			left.Store(int64(b.N))
			measured(b, b.N, func() {
				err := bs.Consume(ctx, crawl.TopicParse, bus.Workers{Min: 1, Max: workers},
					func(context.Context, bus.Message) error {
						if left.Add(-1) == 0 {
							cancel()
						}
						return nil
					})
				if err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// BenchmarkStage consumes, publishes two messages for each, and acknowledges: what a stage costs that does nothing.
func BenchmarkStage(b *testing.B) {
	for _, workers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			bs := rabbittest.Bus(b, wide)
			publishAll(b, bs, 8, 100, b.N, page)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var left atomic.Int64
			left.Store(int64(b.N))
			measured(b, b.N, func() {
				err := bs.Consume(ctx, crawl.TopicParse, bus.Workers{Min: 1, Max: workers},
					func(ctx context.Context, m bus.Message) error {
						e := m.Event.(*crawl.Page)
						err := bs.Publish(ctx, bus.Message{ID: m.ID.Child("b", 0), Event: &crawl.Document{Page: *e}},
							bus.Message{ID: m.ID.Child("b", 1), Event: &crawl.Outcome{Task: e.Task}})
						if left.Add(-1) == 0 {
							cancel()
						}
						return err
					})
				if err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// BenchmarkPull pulls tasks in groups and settles them.
func BenchmarkPull(b *testing.B) {
	for _, group := range []int{1, 2, 4, 8, 16, 64, 256} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			q := openQueues(b, rabbittest.Config(b))
			fill(b, q, "front.1", b.N)
			measured(b, b.N, func() {
				for n := 0; n < b.N; {
					ds, err := q.Pull(context.Background(), "front.1", group)
					if err != nil || len(ds) == 0 {
						b.Fatalf("after %d of %d: %d tasks, %v", n, b.N, len(ds), err)
					}
					n += len(ds)
					if err := q.Settle(context.Background(), ds...); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkSettle settles tasks that are held, in the order in which hosts may be asked: any.
func BenchmarkSettle(b *testing.B) {
	for _, held := range []int{1_000, 4_000, 16_000} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			q := openQueues(b, rabbittest.Config(b))
			fill(b, q, "front.1", held)
			var ds []crawl.Delivery
			for len(ds) < held {
				ds = append(ds, must(q.Pull(context.Background(), "front.1", 256))(b)...)
			}
			random := rand.New(rand.NewPCG(1, 2))
			random.Shuffle(held, func(i, k int) { ds[i], ds[k] = ds[k], ds[i] })
			measured(b, held/2, func() { // and the other half stays, as in the middle of a crawl
				for few := range slices.Chunk(ds[:held/2], 32) {
					check(b, q.Settle(context.Background(), few...))
					fill(b, q, "front.1", 1) // when this is confirmed, the queue has heard of most
				}
				q.Reached()
			})
		})
	}
}

// BenchmarkPush pushes tasks in groups, over ten queues.
func BenchmarkPush(b *testing.B) {
	for _, group := range []int{1, 256} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			q := openQueues(b, rabbittest.Config(b))
			measured(b, b.N, func() {
				for n := 0; n < b.N; n += group {
					var items []crawl.Queued
					for i := n; i < min(n+group, b.N); i++ {
						items = append(items, crawl.Queued{Queue: fmt.Sprint("back.", i%10), Task: page(i).Event.(*crawl.Page).Task})
					}
					if err := q.Push(context.Background(), items...); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func fill(t testing.TB, q crawl.Queues, queue string, n int) {
	var items []crawl.Queued
	for i := range n {
		items = append(items, crawl.Queued{Queue: queue, Task: page(i).Event.(*crawl.Page).Task})
	}
	if err := q.Push(context.Background(), items...); err != nil {
		t.Fatal(err)
	}
}
