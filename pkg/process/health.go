package process

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// How long a check may take, and how long its answer is good, so that asking often costs the services nothing.
const (
	checkTime = 2 * time.Second
	checkGood = time.Second
)

// Reasons of a program that is not ready, whatever its services say.
var (
	errStarting = errors.New("the program is starting")
	errStopping = errors.New("the program is stopping")
)

// errSilent is the failure of a check that does not answer.
var errSilent = fmt.Errorf("no answer in %v", checkTime)

// health knows whether the program can do its work.
type health struct {
	mu     sync.Mutex
	phase  error            // nil while the program does its work
	states map[string]error // of services that were waited for; nil: there
	checks map[string]func(ctx context.Context) error

	asking  sync.Mutex // held while the checks run
	answers []checkResult
	asked   time.Time
}

// report is the answer of /readyz.
type report struct {
	Ready  bool          `json:"ready"`
	Reason string        `json:"reason,omitempty"`
	Checks []checkResult `json:"checks"`
}

type checkResult struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

func newHealth() *health {
	return &health{phase: errStarting, states: map[string]error{}, checks: map[string]func(context.Context) error{}}
}

// set notes what is known of a service that is waited for.
func (h *health) set(name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states[name] = err
}

// enter begins a phase of the program's life. None follows the stop.
func (h *health) enter(phase error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !errors.Is(h.phase, errStopping) {
		h.phase = phase
	}
}

// Check makes /readyz call check, which has two seconds to answer. It replaces the state that Await reported under the
// same name, so register it after waiting.
func (p *Program) Check(name string, check func(ctx context.Context) error) {
	p.health.mu.Lock()
	defer p.health.mu.Unlock()
	p.health.checks[name] = check
}

// Ready says that everything is in place and the program does its work. Before that it is not ready.
func (p *Program) Ready() {
	p.health.enter(nil)
	p.Log.Info("ready")
}

// look tells what is known: what Await found out, and what the checks answer, which are asked at most once a second.
func (h *health) look(ctx context.Context) report {
	rep := report{Checks: append(h.known(), h.ask(ctx)...)}
	slices.SortFunc(rep.Checks, func(a, b checkResult) int { return cmp.Compare(a.Name, b.Name) })
	rep.Ready = !slices.ContainsFunc(rep.Checks, func(c checkResult) bool { return !c.OK })
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != nil {
		rep.Ready, rep.Reason = false, h.phase.Error()
	}
	return rep
}

// known returns what is known of the services that no check asks.
func (h *health) known() []checkResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	results := make([]checkResult, 0, len(h.states)+len(h.checks))
	for name, err := range h.states {
		if h.checks[name] == nil {
			results = append(results, result(name, err))
		}
	}
	return results
}

// ask runs all checks at once, unless their answers are still good.
func (h *health) ask(ctx context.Context) []checkResult {
	h.asking.Lock()
	defer h.asking.Unlock()
	if time.Since(h.asked) < checkGood {
		return h.answers
	}
	h.mu.Lock()
	checks := maps.Clone(h.checks)
	h.mu.Unlock()
	h.answers, h.asked = collect(ctx, checks), time.Now()
	return h.answers
}

// collect returns the results of the checks; one that does not answer in time has failed.
func collect(ctx context.Context, checks map[string]func(ctx context.Context) error) []checkResult {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	answers := make(chan checkResult, len(checks))
	for name, check := range checks {
		go func() { answers <- result(name, check(ctx)) }()
	}
	var out []checkResult
	for len(checks) > 0 {
		select {
		case r := <-answers:
			out = append(out, r)
			delete(checks, r.Name)
		case <-ctx.Done():
			for name := range checks {
				out = append(out, result(name, errSilent))
			}
			return out
		}
	}
	return out
}

func result(name string, err error) checkResult {
	if err != nil {
		return checkResult{Name: name, Reason: err.Error()}
	}
	return checkResult{Name: name, OK: true}
}

// live answers /healthz: who can answer lives.
func live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// ready answers /readyz.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	rep := h.look(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !rep.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(rep)
}
