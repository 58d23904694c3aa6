package nodes_test

import (
	"net/url"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Somebody deletes, or purges, all queues of a node by the management API of its broker, one node after the other, in
// the middle of a crawl. The nodes fetch again what was in them, each its own hosts', and the job does not end before.
func TestQueuesOfNodesAreDeletedAndPurged(t *testing.T) {
	p := calm(t)
	w := serve(t, 600*time.Millisecond)
	c := newCluster(t, w.Srv, p)
	c.start(1, 2, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	job := jobFor(w.Srv, w.Delay)
	// a lease whose message is gone is waited for as long as a fetch may take
	job.Limits.Total = crawl.Duration(harness.Paced(p.slowness, 5*time.Second))
	c.seed(job)
	lost := 0
	for i, how := range []string{"deleted", "purged", "deleted"} {
		target := (i + 1) * w.Requests / 6
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.Ended("e2e") || c.stuck() })
		if c.Ended("e2e") || t.Failed() {
			break
		}
		m := c.alive()[i]
		c.During("queues of "+m.name+" "+how, func() {
			m.programs[0].Freeze(t)
			defer m.programs[0].Thaw(t)
			lost += c.loseQueues(m, how)
		})
	}
	c.wait("e2e")
	c.judge(w)
	t.Logf("%d messages were lost", lost)
	if lost == 0 || len(c.Troubles) < 2 {
		t.Errorf("%d messages were lost in %d troubles: the test proves little", lost, len(c.Troubles))
	}
}

// management is the management API of a node's broker, as its administrator.
func (c *cluster) management(m *machine) *rabbithole.Client {
	c.t.Helper()
	u, err := url.Parse(c.services.brokers[m.n]["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(c.t, err)
	password, _ := u.User.Password()
	client, err := rabbithole.NewClient(u.Scheme+"://"+u.Host, u.User.Username(), password)
	check(c.t, err)
	return client
}

// loseQueues deletes or purges all queues of a node, and returns how many messages waited there.
func (c *cluster) loseQueues(m *machine, how string) (n int) {
	c.t.Helper()
	client := c.management(m)
	for _, raw := range []string{c.RabbitConfig(m.env).Subsystems, c.RabbitConfig(m.env).Frontier} {
		at, err := url.Parse(raw)
		check(c.t, err)
		vhost := at.Path[1:]
		all, err := client.ListQueuesWithParametersIn(vhost,
			url.Values{"disable_stats": {"true"}, "enable_queue_totals": {"true"}})
		check(c.t, err)
		for _, q := range all {
			if q.Name == "frontier.owner" {
				continue
			}
			n += q.MessagesReady
			if how == "deleted" {
				_, err = client.DeleteQueue(vhost, q.Name)
			} else {
				_, err = client.PurgeQueue(vhost, q.Name)
			}
			check(c.t, err)
		}
	}
	return n
}
