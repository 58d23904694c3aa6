package rabbit_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Minute

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func instance(t *testing.T, cfg rabbit.Config) bustest.Instance {
	b := rabbittest.OpenBus(t, cfg)
	if err := b.Declare(within(t)); err != nil {
		t.Fatal(err)
	}
	return bustest.Instance{
		Bus: b,
		Dead: func() []bus.DeadLetter {
			letters, err := b.Dead(context.Background(), 100)
			if err != nil {
				t.Error(err)
			}
			var out []bus.DeadLetter
			for _, l := range letters {
				out = append(out, l.DeadLetter)
			}
			return out
		},
		Restart: func(t *testing.T) bustest.Instance {
			b.Kill()
			return instance(t, cfg)
		},
	}
}

func TestConformance(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Instance { return instance(t, rabbittest.Config(t)) })
}

// administered is a configuration with the broker's administrator, who may declare queues of any name.
func administered(t *testing.T) rabbit.Config {
	cfg := rabbittest.Config(t)
	cfg.Frontier = withUserOf(t, cfg.Frontier, servicetest.AMQP(t))
	cfg.Management = servicetest.RabbitMQAPI(t)
	return cfg
}

func TestQueuesConformance(t *testing.T) {
	for name, end := range map[string]func(*rabbit.Queues){
		"closed": func(q *rabbit.Queues) { _ = q.Close() },
		"killed": func(q *rabbit.Queues) { q.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Queues(t, func(t *testing.T) (crawl.Queues, func() crawl.Queues) {
				cfg := administered(t)
				q := openQueues(t, cfg)
				return q, func() crawl.Queues {
					end(q)
					q = openQueues(t, cfg)
					return q
				}
			})
		})
	}
}

func openQueues(t testing.TB, cfg rabbit.Config) *rabbit.Queues {
	t.Helper()
	q, err := rabbit.OpenQueues(within(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}
