package peers_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/peers"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const patience = 5 * time.Minute

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for what offers nothing to wait on.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// machine is a node with a broker of its own.
type machine struct {
	server *servicetest.Own
	cfg    *process.Config
	admin  string
	own    *rabbit.Bus
}

// start starts a broker with the vhosts of a node.
func start(t *testing.T, name string) *machine {
	t.Helper()
	m := &machine{server: servicetest.Start(t, "rabbitmq")}
	m.admin = m.server.Address(t, "RABBITMQ_API")
	api, err := url.Parse(m.admin)
	check(t, err)
	amqp, err := url.Parse(m.server.Address(t, "AMQP"))
	check(t, err)
	api.User, amqp.User = nil, nil
	cfg := process.Default()
	cfg.Node, cfg.RabbitMQ.URL, cfg.RabbitMQ.Management.URL = name, process.URL(amqp.String()), process.URL(api.String())
	cfg.RabbitMQ.Subsystems.Password, cfg.RabbitMQ.Frontier.Password = "one", "two"
	m.cfg = &cfg
	check(t, rabbit.Setup(within(t), m.admin, m.rabbit()))
	m.own, err = rabbit.Open(m.rabbit())
	check(t, err)
	t.Cleanup(func() { _ = m.own.Close() })
	check(t, m.own.Declare(within(t)))
	return m
}

func (m *machine) rabbit() rabbit.Config {
	cfg := node.RabbitConfig(m.cfg)
	cfg.Log = slog.New(slog.DiscardHandler)
	return cfg
}

// bus is the machine's bus among others.
func (m *machine) bus(t *testing.T, others map[string]*machine) *peers.Bus {
	t.Helper()
	cfg := peers.Default()
	cfg.Log, cfg.Timeout, cfg.Rest, cfg.MaxRest, cfg.Retry = slog.New(slog.DiscardHandler), time.Second,
		100*time.Millisecond, time.Second, 100*time.Millisecond
	cfg.Address = func(node string) (string, bool) {
		o, ok := others[node]
		if !ok {
			return "", false
		}
		return o.cfg.BrokerAddress(), true
	}
	cfg.Open = func(addr string) (peers.Publisher, error) {
		pc := node.PeerConfig(m.cfg, addr)
		pc.Log = slog.New(slog.DiscardHandler)
		return rabbit.OpenPublisher(pc)
	}
	b, err := peers.New(m.own, cfg)
	check(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// consumed collects the URLs of claims that arrive at a machine.
func (m *machine) consumed(t *testing.T) *sync.Map {
	var got sync.Map
	consume(t, func(ctx context.Context) error {
		return m.own.Consume(ctx, crawl.TopicDUE, bus.Workers{Min: 1, Max: 8},
			func(_ context.Context, msg bus.Message) error {
				for _, task := range msg.Event.(*crawl.Claim).Tasks {
					got.Store(task.URL.String(), true)
				}
				return nil
			})
	})
	return &got
}

func consume(t *testing.T, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func count(m *sync.Map, host string) (n int) {
	m.Range(func(k, _ any) bool {
		if strings.Contains(k.(string), host) {
			n++
		}
		return true
	})
	return n
}

// halves gives hosts that begin with b to node b.
type halves struct{}

func (halves) View() (hostsplitter.View, error) { return halves{}, nil }
func (halves) Epoch() uint64                    { return 1 }
func (halves) Owner(_ context.Context, u weburl.URL) (string, error) {
	if strings.HasPrefix(u.HostKey(), "b") {
		return "b", nil
	}
	return "", nil
}

// counting counts how often messages are handled.
type counting struct {
	*hostsplitter.Handler
	most atomic.Int64 // attempts of one message
}

func (c *counting) Handle(ctx context.Context, s *crawl.Filtered) ([]crawl.Event, error) {
	if n := int64(pipeline.DeliveryOf(ctx).Attempt); n > c.most.Load() {
		c.most.Store(n)
	}
	return c.Handler.Handle(ctx, s)
}

func page(t *testing.T, n int) bus.Message {
	s := &crawl.Filtered{Batch: crawl.Batch{Job: "j"}}
	for _, host := range []string{"a", "b"} {
		u, err := weburl.Parse(fmt.Sprintf("http://%s.test/%d", host, n))
		check(t, err)
		s.Tasks = append(s.Tasks, crawl.Task{Job: "j", URL: u})
	}
	return bus.Message{ID: s.Tasks[0].ID(), Event: s}
}

// Two nodes with a broker each. One broker is stopped while links go to it: they wait on the other's disk, longer than
// any failing message may, and arrive when it has started; the links of the other node never wait.
func TestLinksWaitForABrokerThatIsStopped(t *testing.T) {
	const before, during = 60, 20
	a, b := start(t, "a"), start(t, "b")
	atA, atB := a.consumed(t), b.consumed(t)
	all := a.bus(t, map[string]*machine{"b": b})
	h := &counting{Handler: hostsplitter.New(halves{}, nil)}
	consume(t, func(ctx context.Context) error {
		return pipeline.Run(ctx, all, pipeline.Config{Name: "hostsplitter", Topic: crawl.TopicHostSplitter,
			Workers: bus.Workers{Min: 1, Max: 8}, Log: slog.New(slog.DiscardHandler)}, h)
	})
	publish := func(from, n int) {
		for i := range n {
			check(t, all.Publish(within(t), page(t, from+i)))
		}
	}
	publish(0, before)
	until(t, "all links are where they belong",
		func() bool { return count(atA, "a.test") == before && count(atB, "b.test") == before })

	b.server.Do(t, "stop", "rabbitmq")
	publish(before, during)
	until(t, "the own links do not wait", func() bool { return count(atA, "a.test") == before+during })
	until(t, "the others have been tried more often than any failing message is",
		func() bool { return h.most.Load() > 2*bus.MaxAttempts })
	// for a moment a page that is tried again is there twice
	until(t, "each page waits once, nothing is buried", func() bool {
		depths, err := a.own.Depths(within(t))
		check(t, err)
		waiting := map[string]int64{}
		for _, d := range depths {
			waiting[d.Queue] += d.Ready + d.Unacked
		}
		return waiting["hostsplit.retry"] == during && waiting["dead"] == 0 && waiting["hostsplit"] == 0
	})

	b.server.Do(t, "start", "rabbitmq")
	until(t, "what waited has arrived", func() bool { return count(atB, "b.test") == before+during })
	until(t, "nothing waits any more", func() bool {
		depths, err := a.own.Depths(within(t))
		check(t, err)
		left := int64(0)
		for _, d := range depths {
			left += d.Ready + d.Unacked
		}
		return left == 0
	})
	if wrong := count(atA, "b.test") + count(atB, "a.test"); wrong > 0 {
		t.Errorf("%d links arrived at the wrong node", wrong)
	}
}

// Connections do not grow with publications.
func TestTenThousandPublicationsUseOneConnection(t *testing.T) {
	a, b := start(t, "a"), start(t, "b")
	atB := b.consumed(t)
	all := a.bus(t, map[string]*machine{"b": b})
	api, err := url.Parse(b.admin)
	check(t, err)
	password, _ := api.User.Password()
	name := api.User.Username()
	api.User = nil
	client, err := rabbithole.NewClient(api.String(), name, password)
	check(t, err)
	// ours returns connections and channels that come from node a.
	ours := func() (connections, channels int) {
		infos, err := client.ListConnections()
		check(t, err)
		for _, c := range infos {
			if program, _ := c.ClientProperties["connection_name"].(string); strings.HasPrefix(program, "peer a publishes") {
				connections++
				channels += c.Channels
			}
		}
		return connections, channels
	}
	publish := func(from, n int) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := from + w; i < from+n; i += 8 {
					p := page(t, i)
					if err := all.Publish(within(t),
						bus.Message{ID: p.ID, Event: &crawl.Claim{Node: "b", Batch: p.Event.(*crawl.Filtered).Batch}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	look := func(when string) {
		t.Helper()
		until(t, "the broker's figures show the connection", func() bool { n, c := ours(); return n > 0 && c > 0 })
		if n, c := ours(); n != 1 || c != 1 {
			t.Errorf("%s: %d connections, %d channels", when, n, c)
		}
	}
	publish(0, 1)
	look("after one publication")
	publish(1, 10_000)
	look("after ten thousand")
	until(t, "all have arrived", func() bool { return count(atB, "b.test") == 10_001 })
}
