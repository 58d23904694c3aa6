package rabbit_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

// control returns a function that runs rabbitmqctl against the broker of the tests. These tests raise alarms and stop
// the broker, so they run only where WHIRLPOOL_TEST_RABBITMQCTL names the command, which says that nobody else uses the
// broker.
func control(t *testing.T) func(args ...string) {
	path := os.Getenv("WHIRLPOOL_TEST_RABBITMQCTL")
	if path == "" {
		t.Skip("WHIRLPOOL_TEST_RABBITMQCTL is not set: the broker may have other users")
	}
	return func(args ...string) {
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			t.Errorf("rabbitmqctl %q: %v\n%s", args, err, out)
		}
	}
}

// During a memory alarm publishers wait, and no message is lost. Commands log errors alone: who waits is told.
func TestAnAlarmMakesPublishersWait(t *testing.T) {
	ctl := control(t)
	var log logged
	cfg := rabbittest.Config(t)
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	b := rabbittest.OpenBus(t, cfg)
	got := make(chan crawl.MessageID, 10)
	consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, got, "delivery")
	t.Cleanup(func() { ctl("set_vm_memory_high_watermark", "0.4") })
	ctl("set_vm_memory_high_watermark", "0.000001")
	until(t, "publishers wait", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		return errors.Is(b.Publish(ctx, fetchOf(2)), context.DeadlineExceeded)
	})
	until(t, "the log says why", func() bool { return strings.Contains(log.String(), "takes no messages until") })
	published := make(chan error)
	ctx := within(t)
	go func() { published <- b.Publish(ctx, fetchOf(3)) }()
	ctl("set_vm_memory_high_watermark", "0.4")
	check(t, bustest.Await(t, published, "return of Publish after the alarm"))
	for bustest.Await(t, got, "delivery") != fetchOf(3).ID {
	}
}

// A broker that is stopped and started while messages are under way loses none.
func TestNothingIsLostWhenTheBrokerRestarts(t *testing.T) {
	ctl := control(t)
	b := rabbittest.Bus(t)
	var once sync.Once
	restarted := make(chan struct{})
	pipeline(t, b, 2000, func(handled int64) {
		if handled == 500 {
			once.Do(func() {
				go func() {
					defer close(restarted)
					ctl("stop_app")
					ctl("start_app")
				}()
			})
		}
	})
	<-restarted
}

// The broker closes the channel of a consumer that holds a task too long: the control shows that. Renewing keeps the
// receipts valid.
func TestHeldTasksAreRenewedBeforeConsumerTimeout(t *testing.T) {
	ctl := control(t)
	ctl("eval", "application:set_env(rabbit, consumer_timeout, 4000), application:set_env(rabbit, "+
		"channel_tick_interval, 500).")
	t.Cleanup(func() {
		ctl("eval", "application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, "+
			"channel_tick_interval, 60000).")
	})
	for _, renewed := range []bool{false, true} {
		q := openQueues(t, rabbittest.Config(t))
		fill(t, q, "back.1", 3)
		held := pull(t, q, "back.1", 2)
		var err error
		most := time.Minute // until the broker's patience ends, which it does in seconds
		if renewed {
			most = 8 * time.Second
		}
		for end := time.Now().Add(most); err == nil && time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
			if renewed {
				check(t, q.Renew())
			}
			_, err = q.Lengths(within(t))
		}
		if renewed {
			check(t, err)
			check(t, q.Settle(within(t), held...))
			wantTasks(t, pull(t, q, "back.1", 9), 2)
		} else if !errors.Is(err, rabbit.ErrLost) {
			t.Errorf("the broker's patience did not end: %v; the check proves nothing", err)
		}
	}
}
