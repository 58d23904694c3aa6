package rabbit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

func wantTasks(t *testing.T, ds []crawl.Delivery, want ...int) {
	t.Helper()
	if len(ds) != len(want) {
		t.Fatalf("%d tasks, want %d", len(ds), len(want))
	}
	for i, d := range ds {
		if w := page(want[i]).Event.(*crawl.Page).Task.URL; d.Task.URL != w {
			t.Fatalf("task %d is %s, want %s", i, d.Task.URL, w)
		}
	}
}

func pull(t *testing.T, q crawl.Queues, queue string, n int) []crawl.Delivery {
	t.Helper()
	return must(q.Pull(within(t), queue, n))(t)
}

// The broker cuts off who holds a task for half an hour, so tasks are renewed: the receipts stay good, the order too.
func TestTasksHeldForLongAreRenewed(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	fill(t, q, "back.1", 12)
	held := pull(t, q, "back.1", 10)
	check(t, q.Settle(within(t), held[3]))
	check(t, q.Renew())
	check(t, q.Settle(within(t), held[0], held[3], held[9]))
	check(t, q.Renew())
	wantTasks(t, pull(t, q, "back.1", 1), 10)
	if n := must(q.Lengths(within(t)))(t)["back.1"]; n != 9 {
		t.Errorf("length %d, want 9", n)
	}
	check(t, q.Close())
	wantTasks(t, pull(t, openQueues(t, cfg), "back.1", 99), 1, 2, 4, 5, 6, 7, 8, 10, 11)
}

// What an acknowledgement costs the broker grows with what is held on its channel, so a frontier that holds much has
// more channels. Receipts, renewals and the order in the queue do not depend on which one a task came over.
func TestManyTasksAreHeldOnManyChannels(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	const tasks, held = 1000, 900
	fill(t, q, "front.1", tasks)
	var ds []crawl.Delivery
	for len(ds) < held {
		ds = append(ds, pull(t, q, "front.1", 60)...)
	}
	wantTasks(t, ds, span(0, held)...)
	if n := q.Channels(); n < held/(rabbit.WellLoaded+60) || n > held/60 {
		t.Errorf("%d tasks are held on %d channels", held, n)
	}
	var left []int
	for i, d := range ds {
		if i%3 != 0 {
			check(t, q.Settle(within(t), d))
		} else {
			left = append(left, i)
		}
	}
	check(t, q.Renew())
	check(t, q.Settle(within(t), ds[0], ds[left[len(left)-1]])) // by the receipts that they had before
	left = left[1 : len(left)-1]
	if n := must(q.Lengths(within(t)))(t)["front.1"]; n != int64(len(left)+tasks-held) {
		t.Errorf("length %d, want %d", n, len(left)+tasks-held)
	}
	before := q.Channels()
	more := pull(t, q, "front.1", tasks-held-1)
	if n := q.Channels(); n != before {
		t.Errorf("%d channels became %d, although many tasks were settled", before, n)
	}
	wantTasks(t, more, span(held, tasks-1)...)
	check(t, q.Settle(within(t), more...))
	check(t, q.Close())
	wantTasks(t, pull(t, openQueues(t, cfg), "front.1", tasks), append(left, tasks-1)...)
}

// Where the broker allows few channels to a connection, these hold what there is.
func TestAConnectionWithFewChannelsHoldsAllTheSame(t *testing.T) {
	cfg := rabbittest.Config(t)
	cfg.Frontier += "?channel_max=6"
	q := openQueues(t, cfg)
	const tasks = 1000
	fill(t, q, "front.1", tasks)
	var ds []crawl.Delivery
	for len(ds) < tasks {
		ds = append(ds, pull(t, q, "front.1", 100)...)
	}
	wantTasks(t, ds, span(0, tasks)...)
	if n := q.Channels(); n < 2 || n > 6 {
		t.Errorf("%d channels, of 6 that a connection may have", n)
	}
	if _, err := q.Look(within(t), "front.1", tasks, func(*crawl.Task) {}); err != nil {
		t.Errorf("there is no channel left to look: %v", err)
	}
	check(t, q.Settle(within(t), ds...))
	if n := must(q.Lengths(within(t)))(t)["front.1"]; n != 0 {
		t.Errorf("length %d, want 0", n)
	}
}

// Pulls from one queue at once, and from others, take each task once.
func TestPullsAtOnceTakeEachTaskOnce(t *testing.T) {
	q := openQueues(t, rabbittest.Config(t))
	queues := []string{"front.1", "back.1", "back.2"}
	const tasks = 600
	for _, name := range queues {
		fill(t, q, name, tasks)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() {
			name := queues[i%len(queues)]
			for {
				ds, err := q.Pull(within(t), name, 20)
				if err != nil {
					t.Error(err)
				}
				if len(ds) == 0 {
					return
				}
				mu.Lock()
				for _, d := range ds {
					seen[name+" "+d.Task.URL.String()]++
				}
				mu.Unlock()
				if err := q.Settle(within(t), ds[:len(ds)/2]...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(seen) != tasks*len(queues) {
		t.Errorf("%d tasks were taken, want %d", len(seen), tasks*len(queues))
	}
	for task, n := range seen {
		if n != 1 {
			t.Errorf("%s was taken %d times", task, n)
		}
	}
}

// span lists the numbers from from up to below to.
func span(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// The frontier's user may make, fill and read the front queues of jobs.
func TestJobsHaveFrontQueuesOfTheirOwn(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	name := "front.2." + strings.Repeat("a-job-9-", 8)
	fill(t, q, name, 3)
	wantTasks(t, pull(t, q, name, 9), 0, 1, 2)
	check(t, q.Close())
	wantTasks(t, pull(t, openQueues(t, cfg), name, 9), 0, 1, 2)
}

// After the connection is lost every call says so, and new queues hold everything that was not settled.
func TestALostConnectionInvalidatesReceipts(t *testing.T) {
	direct := rabbittest.Config(t)
	cfg, proxy := throughProxy(t, direct)
	q := openQueues(t, cfg)
	fill(t, q, "front.2", 5)
	held := pull(t, q, "front.2", 3)
	proxy.cut()
	bustest.Await(t, q.Lost(), "notice of the loss")
	ctx := within(t)
	_, pulled := q.Pull(ctx, "front.2", 1)
	_, lengths := q.Lengths(ctx)
	for call, err := range map[string]error{"Pull": pulled, "Lengths": lengths, "Settle": q.Settle(ctx, held[0]),
		"Push": q.Push(ctx, crawl.Queued{Queue: "front.2", Task: held[0].Task})} {
		if !errors.Is(err, rabbit.ErrLost) {
			t.Errorf("%s = %v, want ErrLost", call, err)
		}
	}
	next := openQueues(t, cfg)
	again := pull(t, next, "front.2", 9)
	wantTasks(t, again, 0, 1, 2, 3, 4)
	if !again[0].Task.Repeat || again[4].Task.Repeat {
		t.Error("what was pulled before, and only that, is a repeat")
	}
}

// Queues are deleted while tasks are pushed, which also ends the connection that pulled from them. Push must return:
// the frontier is rebuilt, with its queues, only when its handlers have returned.
func TestAPushEndsWhenTheQueuesAreLost(t *testing.T) {
	q := openQueues(t, rabbittest.Config(t))
	q.LosePulls()
	bustest.Await(t, q.Lost(), "notice of the loss")
	if err := q.PushNow(within(t), "front.2"); !errors.Is(err, rabbit.ErrLost) ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want ErrLost", err)
	}
}

// Two frontiers over the same queues would contact hosts twice as often as is polite.
func TestOneFrontierAtATime(t *testing.T) {
	cfg := rabbittest.Config(t)
	first := openQueues(t, cfg)
	fill(t, first, "front.2", 3)
	_ = pull(t, first, "front.2", 2)
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := rabbit.OpenQueues(short, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("OpenQueues beside another frontier = %v", err)
	}
	opened := make(chan *rabbit.Queues, 1)
	go func() {
		q, err := rabbit.OpenQueues(context.Background(), cfg)
		if err != nil {
			t.Error(err)
		}
		opened <- q
	}()
	check(t, first.Close())
	second := bustest.Await(t, opened, "second frontier")
	defer second.Close()
	wantTasks(t, pull(t, second, "front.2", 9), 0, 1, 2)
}

func TestInvalidTasksAreBuried(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	fill(t, q, "back.4", 1)
	ch := raw(t, cfg.Frontier)
	check(t, ch.Confirm(false))
	for range 20 {
		c := must(ch.PublishWithDeferredConfirm("wh_urlfrontier", "back.4", true, false,
			amqp.Publishing{Body: []byte("junk")}))(t)
		if !c.Wait() {
			t.Fatal("not confirmed")
		}
	}
	fill(t, q, "back.4", 1)
	wantTasks(t, pull(t, q, "back.4", 2), 0, 0)
	b := rabbittest.OpenBus(t, cfg)
	letters := must(b.Dead(within(t), 99))(t)
	if len(letters) != 20 || string(letters[0].Body) != "junk" || letters[0].Topic != "back.4" {
		t.Errorf("%d dead letters, want 20: %+v", len(letters), letters)
	}
}

func TestQueuesThatAreEmptyAreDeletedAtTheNextStart(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	for _, name := range []string{"front.1", "back.1", "back.2", "later.9"} {
		fill(t, q, name, 1)
	}
	for _, name := range []string{"front.1", "back.1", "later.9"} {
		check(t, q.Settle(within(t), pull(t, q, name, 1)...))
	}
	check(t, q.Close())
	q = openQueues(t, cfg)
	var names []string
	for _, d := range must(rabbittest.OpenBus(t, cfg).Depths(within(t)))(t) {
		if slices.Contains([]string{"front.1", "back.1", "back.2", "later.9"}, d.Queue) {
			names = append(names, d.Queue)
		}
	}
	if fmt.Sprint(names) != "[back.2 front.1]" {
		t.Errorf("left are %v, want back.2, which holds a task, and front.1", names)
	}
	fill(t, q, "back.1", 1)
	wantTasks(t, pull(t, q, "back.1", 1), 0)
}

func TestAVhostsUserMayDoNothingElse(t *testing.T) {
	cfg := rabbittest.Config(t)
	for _, try := range []func(ch *amqp.Channel) error{
		func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("front.x", true, false, false, false, nil)
			return err
		},
		func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare("other", "fanout", true, false, false, false, nil)
		},
		func(ch *amqp.Channel) error {
			_, err := ch.Consume("amq.rabbitmq.trace", "", false, false, false, false, nil)
			return err
		},
	} {
		var refused *amqp.Error
		if err := try(raw(t, cfg.Frontier)); !errors.As(err, &refused) || refused.Code != amqp.AccessRefused {
			t.Errorf("got %v, want that access is refused", err)
		}
	}
	other := parse(t, cfg.Frontier)
	other.Path = parse(t, cfg.Subsystems).Path
	if c, err := amqp.Dial(other.String()); err == nil {
		c.Close()
		t.Error("the frontier's user has access to the other vhost")
	}
}
