package rabbit_test

import (
	"errors"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

func TestConnectedProgramsAreNamed(t *testing.T) {
	cfg := rabbittest.Config(t)
	cfg.Program = "parser"
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Declare(within(t)))
	raw(t, cfg.Subsystems) // a connection without a name of ours
	until(t, "both are known", func() bool {
		ps := must(b.Programs(within(t)))(t)
		ours := slices.IndexFunc(ps, func(p bus.Program) bool {
			return p.Name == "parser" && p.Connections >= 2 &&
				p.Host != ""
		})
		return ours >= 0 && len(ps) == 2
	})
}

func TestRepairedDeadLettersAreRemoved(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Declare(within(t)))
	for i := 1; i <= 3; i++ {
		body := must(crawl.EncodeEvent(fetchOf(i).Event))(t)
		check(t, raw(t, cfg.Subsystems).PublishWithContext(within(t), "wh_subsystems", "dead", true, false, amqp.Publishing{
			MessageId: fetchOf(i).ID.String(), ContentType: "application/cbor", Body: body,
			Headers: amqp.Table{"x-topic": crawl.TopicFetch, "x-reason": "no"}}))
	}
	until(t, "three letters", func() bool { return depth(t, b, "dead").Ready == 3 })
	n, err := b.Take(within(t), func(l bus.Letter) (bool, error) { return l.Message.ID == fetchOf(2).ID, nil })
	if n != 1 || err != nil {
		t.Fatalf("Take = %d, %v", n, err)
	}
	until(t, "two letters are left", func() bool { return depth(t, b, "dead").Ready == 2 })
	stop := errors.New("no")
	if n, err := b.Take(within(t), func(bus.Letter) (bool, error) { return true, stop }); n != 0 || !errors.Is(err, stop) {
		t.Errorf("Take = %d, %v; want the error and nothing taken", n, err)
	}
	until(t, "two letters are left", func() bool { return depth(t, b, "dead").Ready == 2 })
}
