package experiment

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Queues says what is asked of a broker that nobody else uses. AMQP and Admin are its addresses with a user that may
// make vhosts.
type Queues struct {
	AMQP, Admin string
	Publishers  int
	Consumers   int
	Every       time.Duration // a row of the table; the broker counts every five seconds
	Alone       int           // rows in which messages are only published
	Both        int           // rows in which they are handled too
	Rest        int           // rows in which they are only handled
}

// Run publishes messages, handles them, and reads the broker's own counts, in vhosts that are removed at the end.
func (q Queues) Run(ctx context.Context) (_ []Table, err error) {
	cfg, err := q.config()
	if err != nil {
		return nil, err
	}
	if err := rabbit.Setup(ctx, q.Admin, cfg); err != nil {
		return nil, fmt.Errorf("set up vhosts: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, rabbit.Teardown(ctx, q.Admin, cfg))
	}()
	b, err := rabbit.Open(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Declare(ctx); err != nil {
		return nil, err
	}
	r := queueRun{Queues: q, bus: b, watch: newBrokerWatch(q.Admin, cfg)}
	return r.tables(ctx)
}

// config is that of a bus in vhosts of its own.
func (q Queues) config() (rabbit.Config, error) {
	cfg, suffix := rabbit.Default(), "_"+strings.ToLower(rand.Text()[:10])
	cfg.Program, cfg.Log = "experiment", slog.New(slog.DiscardHandler)
	admin, err := url.Parse(q.Admin)
	if err != nil {
		return cfg, errors.New("the address of the management API is no URL")
	}
	admin.User = nil
	cfg.Management = admin.String()
	for _, v := range []struct {
		to          *string
		user, vhost string
	}{{&cfg.Subsystems, rabbit.SubsystemsUser, rabbit.SubsystemsVhost},
		{&cfg.Frontier, rabbit.FrontierUser, rabbit.FrontierVhost}} {
		u, err := url.Parse(q.AMQP)
		if err != nil {
			return cfg, errors.New("the broker's address is no URL")
		}
		u.User, u.Path = url.UserPassword(v.user+suffix, rand.Text()), "/"+v.vhost+suffix
		*v.to = u.String()
	}
	return cfg, nil
}

type queueRun struct {
	Queues
	bus     *rabbit.Bus
	watch   *brokerWatch
	sent    atomic.Int64
	handled atomic.Int64
}

// tables publishes, then publishes and handles, then handles what is left, and adds a row each time.
func (r *queueRun) tables(ctx context.Context) ([]Table, error) {
	rates := Table{Name: "queues", Label: "seconds",
		Title: "A queue of RabbitMQ: lengths, and messages a second as the broker counts them",
		Columns: []Column{{Name: "queued", Unit: "messages", Drawn: true}, {Name: "ready"}, {Name: "unacked", Drawn: true},
			{Name: "publish", Unit: "1/s", Drawn: true}, {Name: "confirm", Unit: "1/s"},
			{Name: "deliver", Unit: "1/s", Drawn: true}, {Name: "ack", Unit: "1/s", Drawn: true}}}
	links := Table{Name: "connections", Label: "seconds", Title: "Connections and channels of the broker, and their churn",
		Columns: []Column{{Name: "connections", Drawn: true}, {Name: "channels", Drawn: true},
			{Name: "connections opened", Digits: 0}, {Name: "channels opened", Digits: 0}}}
	before, err := r.watch.read(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for _, phase := range []struct{ rows, publishers, consumers int }{{r.Alone, r.Publishers, 0},
		{r.Both, r.Publishers, r.Consumers}, {r.Rest, 0, r.Consumers}} {
		err := r.while(ctx, phase.publishers, phase.consumers, func() error {
			for range phase.rows {
				now, err := r.watch.next(ctx, r.Every)
				if err != nil {
					return err
				}
				label := fmt.Sprintf("%.0f", time.Since(began).Seconds())
				rates.Rows = append(rates.Rows, now.rates(label, before))
				links.Add(label, now.connections, now.channels, now.opened-before.opened, now.channelsOpened-before.channelsOpened)
				before = now
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	rates.Notes = []string{fmt.Sprintf("%d events sent, %d handled; events of a topic travel in bundles of up to %d, "+
		"each one message.", r.sent.Load(), r.handled.Load(), rabbit.Default().Bundle)}
	return []Table{rates, links}, nil
}

// while runs publishers and consumers until the function returns.
func (r *queueRun) while(ctx context.Context, publishers, consumers int, run func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for range publishers {
		g.Go(func() error { return r.publish(ctx) })
	}
	if consumers > 0 {
		g.Go(func() error {
			return r.bus.Consume(ctx, (&crawl.Page{}).Topic(), bus.Workers{Min: 1, Max: consumers},
				func(context.Context, bus.Message) error {
					r.handled.Add(1)
					return nil
				})
		})
	}
	err := run()
	stop()
	if e := g.Wait(); err == nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	return err
}

// publish sends pages until ctx ends.
func (r *queueRun) publish(ctx context.Context) error {
	for ctx.Err() == nil {
		n := r.sent.Add(1)
		u, err := weburl.Parse(fmt.Sprintf("http://host%d.test/page/%d", n%100, n))
		if err != nil {
			return err
		}
		task := crawl.Task{Job: "experiment", URL: u}
		page := &crawl.Page{Task: task, Status: http.StatusOK, FetchedAt: time.Now(), ContentType: "text/html"}
		if err := r.bus.Publish(ctx, bus.Message{ID: task.ID(), Event: page}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
