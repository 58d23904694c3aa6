package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// journal is a log that tests read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

// entries returns what was logged with the message; "" stands for all.
func (j *journal) entries(t *testing.T, message string) []map[string]any {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []map[string]any
	for line := range bytes.Lines(j.buf.Bytes()) {
		entry := map[string]any{}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if message == "" || entry["msg"] == message {
			out = append(out, entry)
		}
	}
	return out
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// within runs a program on free ports and calls f inside its body with the addresses of its listeners.
func within(t *testing.T, f func(ctx context.Context, p *Program, health, profiles string)) *journal {
	t.Helper()
	cfg, log := Default(), &journal{}
	cfg.Node, cfg.HTTP.Listen, cfg.Pprof.Listen = "n1", "127.0.0.1:0", "127.0.0.1:0"
	err := Execute(t.Context(), "fetcher", &cfg, log, func(ctx context.Context, p *Program) error {
		addrs := map[any]string{}
		for _, e := range log.entries(t, "listening") {
			addrs[e["serves"]] = "http://" + e["address"].(string)
		}
		f(ctx, p, addrs["health"], addrs["profiles"])
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return log
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// readiness asks /readyz.
func readiness(t *testing.T, address string) (rep report) {
	t.Helper()
	status, body := get(t, address+"/readyz")
	if err := json.Unmarshal([]byte(body), &rep); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if (status == http.StatusOK) != rep.Ready {
		t.Errorf("status %d with %s", status, body)
	}
	return rep
}

func TestReadyOnlyWhileEveryDependencyAnswers(t *testing.T) {
	within(t, func(ctx context.Context, p *Program, health, _ string) {
		if rep := readiness(t, health); rep.Ready || rep.Reason != errStarting.Error() {
			t.Errorf("at the start: %+v", rep)
		}
		gone, hold := errors.New("connection refused"), make(chan struct{})
		waited := make(chan error)
		tries := 0
		go func() {
			waited <- p.Await(ctx, "postgres", func(context.Context) error {
				if tries++; tries == 1 {
					return gone
				}
				<-hold
				return nil
			})
		}()
		p.Ready()
		for rep := readiness(t, health); len(rep.Checks) == 0 || rep.Checks[0].Reason != gone.Error(); {
			rep = readiness(t, health) // until the first try has failed
		}
		close(hold)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if rep := readiness(t, health); !rep.Ready || len(rep.Checks) != 1 || !rep.Checks[0].OK {
			t.Errorf("with its service: %+v", rep)
		}
		p.Check("postgres", func(context.Context) error { return nil })
		p.Check("rabbitmq", func(context.Context) error { return errors.New("blocked") })
		p.health.asked = time.Time{}
		rep := readiness(t, health)
		if rep.Ready || len(rep.Checks) != 2 || !rep.Checks[0].OK || rep.Checks[1].Reason != "blocked" ||
			rep.Checks[1].Name != "rabbitmq" {
			t.Errorf("with a service that is away: %+v", rep)
		}
		if status, body := get(t, health+"/healthz"); status != http.StatusOK || body != "ok\n" {
			t.Errorf("/healthz answers %d %q though the process lives", status, body)
		}
	})
}

func TestAProgramThatStopsIsNotReadyAgain(t *testing.T) {
	h := newHealth()
	h.enter(nil)
	h.enter(errStopping)
	h.enter(nil)
	if rep := h.look(t.Context()); rep.Ready || rep.Reason != errStopping.Error() {
		t.Errorf("%+v", rep)
	}
}

func TestChecksAreAskedAtMostOnceASecond(t *testing.T) {
	p, asked := &Program{health: newHealth()}, 0
	p.health.enter(nil)
	p.Check("x", func(context.Context) error { asked++; return nil })
	for range 100 {
		if !p.health.look(t.Context()).Ready {
			t.Fatal("not ready")
		}
	}
	if asked > 3 {
		t.Errorf("asked %d times", asked)
	}
}

func TestMetricsAndProfilesAreServedApart(t *testing.T) {
	within(t, func(_ context.Context, p *Program, health, profiles string) {
		n := prometheus.NewCounter(prometheus.CounterOpts{Name: "whirlpool_test_total", Help: "x"})
		p.Registry.MustRegister(n)
		n.Inc()
		_, body := get(t, health+"/metrics")
		for _, want := range []string{"whirlpool_test_total 1", "go_goroutines", "process_open_fds", `whirlpool_build_info{`,
			`node="n1"`, `service="fetcher"`} {
			if !strings.Contains(body, want) {
				t.Errorf("/metrics lacks %s", want)
			}
		}
		if status, body := get(t, profiles+"/debug/pprof/goroutine?debug=1"); status != http.StatusOK ||
			!strings.Contains(body, "process.TestMetrics") {
			t.Errorf("profile: %d %q", status, body)
		}
		if status, _ := get(t, health+"/debug/pprof/"); status != http.StatusNotFound {
			t.Errorf("the public listener answers %d for profiles", status)
		}
	})
}

func TestATakenPortNamesTheSetting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg, log := Default(), &journal{}
	cfg.HTTP.Listen, cfg.Pprof.Listen = l.Addr().String(), ""
	err = Execute(t.Context(), "x", &cfg, log, nil)
	if err == nil || !strings.Contains(err.Error(), "http.listen") ||
		!strings.Contains(err.Error(), "WHIRLPOOL_HTTP_LISTEN") {
		t.Errorf("error %v", err)
	}
	cfg.HTTP.Listen, cfg.Pprof.Listen = "127.0.0.1:0", l.Addr().String()
	if err := Execute(t.Context(), "x", &cfg, log, func(context.Context, *Program) error { return nil }); err != nil {
		t.Errorf("a port for profiles that is taken stops the program: %v", err)
	}
}
