package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// tormented calls act the given number of times during a crawl, mostly after the server has seen a random part of the
// crawl's requests, and waits until the job has ended.
func (c *cluster) tormented(w *world, times int, act func(i int)) {
	c.t.Helper()
	targets := make([]int, times)
	for i := range targets {
		targets[i] = 1 + rand.IntN(w.Requests*8/10)
	}
	slices.Sort(targets)
	for i, target := range targets {
		until(c.t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.stuck() })
		if c.t.Failed() || c.ended() {
			break
		}
		<-time.After(rand.N(30 * time.Millisecond)) // off the beat of the server's log
		act(i)
	}
	c.wait()
}

// stuck reports whether a program has ended by itself: the crawl cannot go on.
func (c *cluster) stuck() bool {
	i := slices.IndexFunc(c.programs, (*harness.Process).Dead)
	if i >= 0 {
		p := c.programs[i]
		c.t.Errorf("%s ended by itself: %s", p.Name, p.LastWords())
	}
	return i >= 0
}

// killed kills programs, all at once, and starts them again.
func (c *cluster) killed(what string, ps ...*harness.Process) {
	c.t.Helper()
	c.During(what+" killed", func() {
		for _, p := range ps {
			p.Kill(c.t)
		}
		for _, p := range ps {
			p.Start(c.t)
		}
	})
}

// Each of the seven programs is killed, and all at once, at random instants: nothing is lost or doubled, and no host is
// hurried. What is stored is found by its words.
func TestProgramsAreKilledAnywhere(t *testing.T) {
	w := serve(t)
	job := w.Job()
	job.Search = true
	c := newCluster(t, w.Srv, job)
	c.startSeven()
	c.seed()
	const all = "all programs"
	victims := append(slices.Clone(harness.Names), all)
	rand.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	c.tormented(w, harness.Number(t, "WHIRLPOOL_E2E_KILLS", len(victims)), func(i int) {
		if name := victims[i%len(victims)]; name == all {
			c.killed(name, c.programs...)
		} else {
			c.killed(name, c.program(name))
		}
	})
	c.judge(w)
	if len(c.Troubles) < len(harness.Names)/2 {
		t.Errorf("only %d kills came before the job had ended: the test proves nothing", len(c.Troubles))
	}
	crawltest.SQL(t, c.Ledger, "DELETE FROM page_text WHERE ctid = (SELECT min(ctid) FROM page_text)")
	if n := len(c.unsearchable()); n != 1 {
		t.Errorf("the control: the words of one page are gone, %d are missed", n)
	}
}

// The same for all stages in one program, which also is stopped in order.
func TestNodeIsKilledAnywhere(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	p := c.startNode()
	c.seed()
	c.tormented(w, max(harness.Number(t, "WHIRLPOOL_E2E_KILLS", 8)/2, 2), func(i int) {
		if i%4 == 1 {
			p.AwaitLog(t, "listening") // before that a signal ends it like any program
			c.During("node stopped", func() { p.Stop(t); p.Start(t) })
			return
		}
		c.killed("node", p)
	})
	c.judge(w)
}

// A node in one process has trees in memory whose roots are in the broker: it loses its connections, and the broker and
// the stores are killed and restarted, at random instants.
func TestServicesOfAWholeNodeAreKilledAnywhere(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startNode()
	until(t, patience, "list of connections", func() bool {
		_, all := c.connections()
		return len(all) > 0 || c.stuck()
	})
	c.seed()
	s := c.services
	acts := []func(){
		func() { c.During("connection cut", func() { c.cut() }) },
		func() {
			c.During("broker killed", func() { s.do(t, "kill9", rabbitmq); s.do(t, "start", rabbitmq) })
		},
		func() { c.During("connection cut", func() { c.cut() }) },
		func() {
			c.During("database killed", func() { s.do(t, "kill9", postgreSQL); s.do(t, "start", postgreSQL) })
		},
	}
	c.tormented(w, harness.Number(t, "WHIRLPOOL_E2E_KILLS", len(acts)), func(i int) { acts[i%len(acts)]() })
	c.judge(w)
	if len(c.Troubles) < len(acts)/2 {
		t.Errorf("only %d troubles came before the job had ended: the test proves nothing", len(c.Troubles))
	}
}

// Each of the services is killed, and restarted in order, at random instants.
func TestServicesAreKilledAnywhere(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	c.seed()
	s := c.services
	var acts []func()
	for _, name := range []string{rabbitmq, postgreSQL, mongoDB, memcache} {
		acts = append(acts,
			func() { c.During(name+" killed", func() { s.do(t, "kill9", name); s.do(t, "start", name) }) },
			func() { c.During(name+" restarted", func() { s.do(t, "restart", name) }) })
	}
	rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	c.tormented(w, harness.Number(t, "WHIRLPOOL_E2E_KILLS", len(acts)), func(i int) { acts[i%len(acts)]() })
	c.judge(w)
	if len(c.Troubles) < len(acts)/2 {
		t.Errorf("only %d restarts came before the job had ended: the test proves nothing", len(c.Troubles))
	}
}

// Each program has several connections to the broker. They are cut one by one: what was published on one, and not
// confirmed, may have arrived or not.
func TestConnectionsAreCutAnywhere(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	until(t, patience, "list of connections", func() bool {
		_, all := c.connections()
		return len(all) >= len(harness.Names) || c.stuck()
	})
	c.seed()
	cut := map[string]int{}
	c.tormented(w, 3*harness.Number(t, "WHIRLPOOL_E2E_KILLS", 8), func(int) {
		c.During("connection cut", func() {
			if name := c.cut(); name != "" {
				cut[name]++
			}
		})
	})
	c.judge(w)
	t.Logf("cut: %v", cut)
	if len(cut) < 4 {
		t.Errorf("only %d connections were cut before the job had ended: the test proves nothing", len(cut))
	}
}

// cut has the broker close one connection of the programs, and returns its name; none where the broker lists none.
func (c *cluster) cut() string {
	c.t.Helper()
	client, all := c.connections()
	if len(all) == 0 {
		return ""
	}
	victim := all[rand.IntN(len(all))]
	_, err := client.CloseConnection(victim.Name)
	check(c.t, err)
	return fmt.Sprint(victim.ClientProperties["connection_name"])
}

// connections returns those of the programs that the broker lists. It lists them some seconds after they were made.
func (c *cluster) connections() (*rabbithole.Client, []rabbithole.ConnectionInfo) {
	c.t.Helper()
	u, err := url.Parse(c.services.env["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(c.t, err)
	password, _ := u.User.Password()
	client, err := rabbithole.NewClient(u.Scheme+"://"+u.Host, u.User.Username(), password)
	check(c.t, err)
	all, err := client.ListConnections()
	check(c.t, err)
	vhosts := []string{c.Config(c.env).RabbitMQ.Subsystems.Vhost, c.Config(c.env).RabbitMQ.Frontier.Vhost}
	return client, slices.DeleteFunc(all, func(i rabbithole.ConnectionInfo) bool {
		return !slices.Contains(vhosts, i.Vhost) ||
			strings.HasPrefix(fmt.Sprint(i.ClientProperties["connection_name"]), "e2e")
	})
}

// Every message is delivered twice, in any order.
func TestEveryMessageComesTwiceInAnyOrder(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startBroken(faultTwice)
	c.seed()
	c.wait()
	c.judge(w)
	if n := c.inLogs(leaseTwice); n < w.Requests/2 {
		t.Errorf("%d leases of %d requests were delivered twice: the test proves nothing", n, w.Requests)
	}
}

// startBroken starts a node in one program, the test's own, with a fault.
func (c *cluster) startBroken(fault string) *harness.Process {
	self, err := os.Executable()
	check(c.t, err)
	p := c.add(fault, self, nil, faultVariable+"="+fault, holdVariable+"="+c.holdFile())
	p.Start(c.t)
	return p
}
