package cluster_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// lostQueues are the queues of a node, or the part of their names before a number, who takes messages from them, and
// what is done to them where there is no time for both: both are done where WHIRLPOOL_E2E_QUEUES is "all", one where it
// is "each". Without it every third is tried, others each time.
var lostQueues = []struct{ queue, program, how string }{
	{crawl.TopicFetch, "fetcher", "deleted"},
	{crawl.TopicParse, "parser", "purged"},
	{crawl.TopicContentSeen, "contentseen", "deleted"},
	{crawl.TopicURLFilter, "urlfilter", "purged"},
	{crawl.TopicHostSplitter, "hostsplitter", "deleted"},
	{crawl.TopicDUE, "due", "purged"},
	{crawl.TopicFrontierIn, "frontier", "deleted"},
	{crawl.TopicOutcome, "frontier", "deleted"}, // few enough that the consumer holds them all: a purge finds none
	{"front.", "frontier", "deleted"},
	{"back.", "frontier", "purged"},
	{"later.", "frontier", "deleted"},
	{"", "frontier", "purged"}, // all, retries and dead letters too
}

// Somebody deletes or purges a queue by the management API in the middle of a crawl: what was in it is fetched again by
// the node itself, and the job does not end before.
func TestQueuesAreDeletedAndPurged(t *testing.T) {
	which, turn := os.Getenv("WHIRLPOOL_E2E_QUEUES"), int(time.Now().UnixNano()%3)
	for i, q := range lostQueues {
		if which == "" && i%3 != turn {
			continue
		}
		for _, how := range []string{"deleted", "purged"} {
			if how != q.how && which != "all" {
				continue
			}
			name := q.queue
			if strings.HasSuffix(name, ".") || name == "" {
				name += "*"
			}
			t.Run(name+" "+how, func(t *testing.T) { loseQueues(t, q.queue, q.program, how) })
		}
	}
}

// The same on a node in one process, which has in memory what grows from what is lost. Without WHIRLPOOL_E2E_QUEUES one
// queue is tried, another each time.
func TestQueuesOfAWholeNodeAreDeletedAndPurged(t *testing.T) {
	turn := int(time.Now().UnixNano() % 4)
	for i, q := range []struct{ queue, how string }{
		{crawl.TopicFetch, "deleted"}, {crawl.TopicDUE, "deleted"}, {"front.", "purged"}, {"back.", "deleted"},
	} {
		if os.Getenv("WHIRLPOOL_E2E_QUEUES") == "" && i != turn {
			continue
		}
		t.Run(q.queue+" "+q.how, func(t *testing.T) { loseQueues(t, q.queue, wholeNode, q.how) })
	}
}

func loseQueues(t *testing.T, prefix, program, how string) {
	w := serve(t)
	job := w.Job()
	// A lease whose message is gone is waited for as long as a fetch may take.
	job.Limits.Total = crawl.Duration(harness.Paced(harness.Slowness(t), 3*time.Second))
	c := newCluster(t, w.Srv, job, "WHIRLPOOL_FRONTIER_HELD_TASKS=20") // so that tasks lie in the queues
	if program == wholeNode {
		c.startNode()
	} else {
		c.startSeven()
	}
	c.seed()
	lost, times := 0, 0
	for part := 1; part < 14 && times < 2; part++ { // until it was done twice while messages waited there
		c.goesOn(func() bool { return w.Srv.Log().Count() > w.Requests*part/16 || c.stuck() })
		c.During(fmt.Sprintf("%s* %s", prefix, how), func() {
			p := c.program(program)
			p.Freeze(t)
			defer p.Thaw(t)
			within(3*time.Second, func() bool { return c.messages(prefix, how) > 20 })
			if n := c.lose(prefix, how); n > 0 {
				lost, times = lost+n, times+1
			}
		})
	}
	c.wait()
	c.judge(w)
	t.Logf("%d messages were %s", lost, how)
	// Programs hold what these topics have, unacknowledged: a purge finds little there, or nothing.
	held := how == "purged" && slices.Contains([]string{crawl.TopicFetch, crawl.TopicFrontierIn, crawl.TopicOutcome},
		prefix)
	if lost == 0 && prefix != "later." && !held {
		t.Error("no message was lost: the test proves nothing")
	}
}

// goesOn waits while the crawl does.
func (c *cluster) goesOn(ok func() bool) {
	c.t.Helper()
	if within(patience/4, ok) {
		return
	}
	c.t.Errorf("the crawl does not go on\n%s", c.situation())
	for _, p := range c.programs {
		c.t.Logf("%s\n%s", p.Name, p.Tail())
	}
	c.t.FailNow()
}

// management returns a client of the management API that may do everything.
func (c *cluster) management() *rabbithole.Client {
	c.t.Helper()
	u, err := url.Parse(c.services.env["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(c.t, err)
	password, _ := u.User.Password()
	client, err := rabbithole.NewClient(u.Scheme+"://"+u.Host, u.User.Username(), password)
	check(c.t, err)
	return client
}

// queues lists the queues whose names begin so, but for the one that says who has the frontier's.
func (c *cluster) queues(prefix string) (out []rabbithole.QueueInfo) {
	c.t.Helper()
	for _, vhost := range []string{c.Config(c.env).RabbitMQ.Subsystems.Vhost, c.Config(c.env).RabbitMQ.Frontier.Vhost} {
		all, err := c.management().ListQueuesWithParametersIn(vhost,
			url.Values{"disable_stats": {"true"}, "enable_queue_totals": {"true"}})
		check(c.t, err)
		out = append(out, slices.DeleteFunc(all, func(q rabbithole.QueueInfo) bool {
			named := q.Name == prefix || prefix == "" || strings.HasSuffix(prefix, ".") && strings.HasPrefix(q.Name, prefix)
			return !named || q.Name == "frontier.owner"
		})...)
	}
	return out
}

// messages counts what would be lost of them: a purge spares what consumers hold, a deletion does not.
func (c *cluster) messages(prefix, how string) (n int) {
	for _, q := range c.queues(prefix) {
		n += atStake(q, how)
	}
	return n
}

func atStake(q rabbithole.QueueInfo, how string) int {
	if how == "deleted" {
		return q.Messages
	}
	return q.MessagesReady
}

// lose deletes or purges queues, and returns how many messages are lost with that.
func (c *cluster) lose(prefix, how string) (n int) {
	c.t.Helper()
	client := c.management()
	for _, q := range c.queues(prefix) {
		n += atStake(q, how)
		var err error
		if how == "deleted" {
			_, err = client.DeleteQueue(q.Vhost, q.Name)
		} else {
			_, err = client.PurgeQueue(q.Vhost, q.Name)
		}
		if err != nil && !strings.Contains(err.Error(), "404") { // its consumer may have gone since
			c.t.Errorf("queue %s %s: %v", q.Name, how, err)
		}
	}
	return n
}

// A control of the test above: where pages are not followed, a page whose message is deleted is lost, and the same
// checks find it. So does the audit, by its exit status and by name, and repair brings back what it found.
func TestNegativeControlPagesThatNobodyFollowsAreRepaired(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	c.seed()
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > w.Requests/8 || c.stuck() })
	p := c.program("parser")
	p.Freeze(t)
	until(t, patience, "pages to be parsed", func() bool { return c.messages(crawl.TopicParse, "purged") > 5 })
	c.sql(`INSERT INTO followed_since SELECT number, now() + interval '1 hour' FROM jobs
		ON CONFLICT (job) DO UPDATE SET since = excluded.since`) // as if they were followed elsewhere
	lost := c.lose(crawl.TopicParse, "purged")
	p.Thaw(t)
	c.wait()
	faults := c.faults(w)
	if lost == 0 || !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, "stored false") }) {
		t.Fatalf("%d messages were lost, and the checks found %d faults", lost, len(faults))
	}
	code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID))
	if code != 1 || !strings.Contains(text, "neither a record nor a reason") ||
		!strings.Contains(text, "page without record and reason: http://") {
		t.Errorf("audit ends with %d where pages were lost, want 1 and their names:\n%s", code, text)
	}
	if code, text := c.exitCode("repair", "--cluster", "--job", string(c.job.ID)); code != 0 {
		t.Errorf("repair ends with %d:\n%s", code, text)
	}
	until(t, patience, "end of the repaired crawl", func() bool { return c.ended() && len(c.faults(w)) == 0 })
	c.judge(w)
}
