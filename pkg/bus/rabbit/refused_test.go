package rabbit_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// logged is a log that tests look into.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// with changes a part of an address.
func with(t *testing.T, address string, change func(u *url.URL)) string {
	u := parse(t, address)
	change(u)
	return u.String()
}

// If the broker rejects the login, the log, Reach and the management API name the user and what to check; they do not
// report the broker as unreachable.
func TestARefusedLoginIsNotReportedAsUnreachable(t *testing.T) {
	wrong := func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "wrong") }
	for name, change := range map[string]func(u *url.URL){
		"password": wrong,
		"user":     func(u *url.URL) { u.User = url.UserPassword("nobody", "x") },
		"vhost":    func(u *url.URL) { u.Path = "/nowhere" },
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			cfg := rabbittest.Config(t)
			cfg.Subsystems, cfg.Log = with(t, cfg.Subsystems, change), slog.New(slog.NewTextHandler(&log, nil))
			b := rabbittest.OpenBus(t, cfg)
			if err := b.Reach(within(t)); !errors.Is(err, rabbit.ErrRefused) ||
				!strings.Contains(err.Error(), parse(t, cfg.Subsystems).User.Username()) {
				t.Errorf("Reach says %v; want a refusal that names the user", err)
			}
			if _, err := b.Depths(within(t)); !errors.Is(err, rabbit.ErrRefused) {
				t.Errorf("Depths says %v; want a refusal", err)
			}
			consume(t, b, "fetch", 1, nil)
			until(t, "the log says it", func() bool { return strings.Contains(log.String(), "refuses the login") })
			if strings.Contains(log.String(), "cannot be reached") || strings.Contains(log.String(), "wrong@") {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

func TestReachOfABrokerThatIsNotThere(t *testing.T) {
	cfg := rabbittest.Config(t)
	cfg.Subsystems = with(t, cfg.Subsystems, func(u *url.URL) { u.Host = "127.0.0.1:1" })
	if err := rabbittest.OpenBus(t, cfg).Reach(within(t)); err == nil || errors.Is(err, rabbit.ErrRefused) {
		t.Errorf("Reach says %v", err)
	}
}

func TestReachOfAGoodBroker(t *testing.T) {
	b := rabbittest.OpenBus(t, rabbittest.Config(t))
	check(t, b.Reach(within(t)))
	if alarms := must(b.Alarms(within(t)))(t); len(alarms) != 0 {
		t.Errorf("alarms %v of a broker without", alarms)
	}
}

// The answers are those of RabbitMQ 3.10 and later.
func TestAlarms(t *testing.T) {
	const both = `{"status":"failed","reason":"There are alarms in effect in the cluster","alarms":[
		{"node":"rabbit@b","resource":"memory"},{"node":"rabbit@a","resource":"disk space"},
		{"node":"rabbit@b","resource":"memory"}]}`
	for name, tc := range map[string]struct {
		status int
		body   string
		want   []bus.Alarm
		fails  bool
	}{
		"none": {200, `{"status":"ok"}`, nil, false},
		"some": {503, both, []bus.Alarm{{Node: "rabbit@a", Resource: "disk"}, {Node: "rabbit@b", Resource: "memory"}},
			false},
		"no answer":  {503, `the server is starting`, nil, true},
		"unknown":    {503, `{"status":"failed"}`, nil, true},
		"not there":  {404, `{}`, nil, true},
		"not let in": {401, `{}`, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); r.URL.Path != "/api/health/checks/alarms" || user != "u" || password != "p" {
					t.Errorf("asked for %s as %s", r.URL.Path, user)
				}
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			}))
			defer srv.Close()
			cfg := rabbit.Default()
			cfg.Subsystems, cfg.Frontier, cfg.Management = "amqp://u:p@127.0.0.1:1/a", "amqp://u:p@127.0.0.1:1/b", srv.URL
			got, err := rabbittest.OpenBus(t, cfg).Alarms(within(t))
			if !slices.Equal(got, tc.want) || (err != nil) != tc.fails {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// A policy that an operator of the broker sets may drop what is queued. A length does nothing to a topic that is
// bounded already, and policies of other things are nobody's business.
func TestPoliciesThatDropMessages(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Declare(within(t)))
	client := must(rabbithole.NewClient(cfg.Management, admin(t).User.Username(), password(admin(t))))(t)
	vhost := strings.Trim(parse(t, cfg.Subsystems).Path, "/")
	set := func(name, pattern string, limits rabbithole.PolicyDefinition) {
		answer := must(client.PutPolicy(vhost, name, rabbithole.Policy{Pattern: pattern, ApplyTo: "queues", Priority: 1,
			Definition: limits}))(t)
		check(t, answer.Body.Close())
	}
	set("lazy", "^urlfilter$", rabbithole.PolicyDefinition{"queue-mode": "lazy"})
	set("topic", "^parse$", rabbithole.PolicyDefinition{"max-length": 5})
	set("old", "^fetch$", rabbithole.PolicyDefinition{"message-ttl": 60000000})
	set("short", "^dead$", rabbithole.PolicyDefinition{"max-length": 5, "overflow": "drop-head"})
	want := []bus.QueuePolicy{{Vhost: vhost, Name: "policy old", Limits: "message-ttl 60000000"},
		{Vhost: vhost, Name: "policy short", Limits: "max-length 5"}}
	var got []bus.QueuePolicy
	until(t, "the broker tells of two policies", func() bool {
		got = must(b.Policies(within(t)))(t)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A user may log in but not use a job's queues, as in a cluster set up by an older version. The error names queue,
// vhost and user, and the command that mends it.
func TestADeniedQueueErrorSaysWhatToDo(t *testing.T) {
	cfg := rabbittest.Config(t)
	user, vhost := parse(t, cfg.Frontier).User.Username(), strings.Trim(parse(t, cfg.Frontier).Path, "/")
	client := must(rabbithole.NewClient(cfg.Management, admin(t).User.Username(), password(admin(t))))(t)
	narrow := rabbithole.Permissions{Configure: `^(?!front\.[0-9]+\.)`, Read: ".*", Write: ".*"}
	answer := must(client.UpdatePermissionsIn(vhost, user, narrow))(t)
	check(t, answer.Body.Close())
	q := openQueues(t, cfg)
	const name = "front.2.a-job"
	_, err := q.Pull(within(t), name, 1)
	bustest.Await(t, q.Lost(), "notice of the loss")
	for what, err := range map[string]error{"Pull": err, "Cause": q.Cause()} {
		var denied *rabbit.DeniedError
		if !errors.As(err, &denied) || !errors.Is(err, rabbit.ErrLost) || denied.Pause() < 10*time.Second {
			t.Fatalf("%s: %v; want a denial by which the queues are lost, and some patience", what, err)
		}
		for _, want := range []string{name, user, vhost, "whirlpool setup"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s does not name %s: %v", what, want, err)
			}
		}
	}
	check(t, q.Close())
	check(t, rabbit.Setup(within(t), servicetest.RabbitMQAPI(t), cfg))
	fill(t, openQueues(t, cfg), name, 1)
}

func admin(t *testing.T) *url.URL { return parse(t, servicetest.RabbitMQAPI(t)) }

func password(u *url.URL) string {
	p, _ := u.User.Password()
	return p
}
