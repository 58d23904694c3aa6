package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const (
	writeTime    = 10 * time.Second // of a write to a reader
	commentEvery = 15 * time.Second
)

func (s *Server) eventRoutes() {
	add(s, route{method: http.MethodGet, path: "/events", id: "streamEvents", role: Viewer, stream: true,
		media: "text/event-stream",
		text:  "Stream of events (text/event-stream); goes on after Last-Event-ID"}, s.streamEvents)
}

type eventsIn struct {
	Topics []string `query:"topics" required:"true" minItems:"1" maxItems:"20" doc:"executions, workflows, agents, logs:LEVEL, execution:ID, series:ID, tail:ID"`
	After  string   `header:"Last-Event-ID" maxLength:"20"`
}

// reader is one stream.
type reader struct {
	s     *Server
	w     http.ResponseWriter
	ctl   *http.ResponseController
	who   Identity
	wants func(*workflow.Event) bool
	after int64
	seen  map[string]uint64 // versions of volatile topics
}

func (s *Server) streamEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	topics, err := s.topicsOf(ctx, in.Topics)
	if err != nil {
		return nil, err
	}
	after := int64(-1)
	if in.After != "" {
		if after, err = strconv.ParseInt(in.After, 10, 64); err != nil || after < 0 {
			return nil, problem(ctx, http.StatusBadRequest, "Last-Event-ID is none of our ids: begin without it")
		}
	}
	if !s.hub.enter() {
		return nil, problem(ctx, http.StatusTooManyRequests, "too many streams are open: close one, or try again in a minute")
	}
	//nolint:contextcheck // the request has its own
	return stream(func(w http.ResponseWriter, r *http.Request) {
		defer s.hub.leave()
		if r.Method == http.MethodHead { // whoever asks has no use for a stream
			w.Header().Set("Content-Type", "text/event-stream")
			return
		}
		rd := &reader{s: s, w: w, ctl: http.NewResponseController(w), who: identityOf(r.Context()), after: after,
			seen: map[string]uint64{}}
		for _, t := range topics {
			if _, twice := rd.seen[t.name]; t.source != nil && !twice {
				defer s.hub.follow(t.name, t.source)() //nolint:contextcheck // a topic is of all its readers
				rd.seen[t.name] = 0
			}
		}
		rd.wants = func(e *workflow.Event) bool {
			for _, t := range topics {
				if t.wants != nil && t.wants(e) {
					return true
				}
			}
			return false
		}
		_ = rd.serve(r.Context()) // the client has gone, or did not read
	}), nil
}

var errSignedOut = errors.New("the session has ended")

// serve writes events until the reader has gone, does not read, or is signed out.
func (r *reader) serve(ctx context.Context) error {
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	_ = r.ctl.SetReadDeadline(time.Time{}) // the request is read: a stream has no end
	if r.after < 0 {
		r.after, _ = r.s.hub.now() // before anything is written: who has a first line misses no later event
	}
	// With its place, a reader whose connection breaks before the first event goes on from here too.
	if err := r.write(fmt.Appendf(nil, "id: %d\nretry: 2000\n\n", r.after)); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	comment := time.NewTicker(commentEvery)
	defer comment.Stop()
	for {
		_, wake := r.s.hub.now()
		if err := r.news(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.s.hub.ctx.Done():
			return r.s.hub.ctx.Err()
		case <-wake:
		case <-comment.C:
			if err := r.still(ctx); err != nil {
				return err
			}
		}
	}
}

// begin writes what came since the reader was here last.
func (r *reader) begin(ctx context.Context) error {
	last, _ := r.s.hub.now()
	if r.after > last { // it knows events, from a list, that the hub has not read yet
		if err := r.s.hub.take(); err != nil {
			return err
		}
		last, _ = r.s.hub.now()
	}
	if r.after == last {
		return nil
	}
	if r.after > last {
		return r.reset(last)
	}
	pending := 0
	for r.after < last {
		events, err := r.s.Workflows.Events(ctx, workflow.EventFilter{}, r.after, hubPage)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.ID > last { // and last itself is kept no more
				r.after = last
				break
			}
			r.after = e.ID
			if !r.wants(&e) {
				continue
			}
			if pending++; pending > maxBehind {
				return r.reset(last)
			}
			if err := r.write(durableLine(&e)); err != nil {
				return err
			}
		}
		if len(events) < hubPage {
			r.after = max(r.after, last)
		}
	}
	return nil
}

// reset tells the reader to read everything again.
func (r *reader) reset(at int64) error {
	r.after = at
	return r.write(frame(at, "reset", []byte("{}")))
}

// news writes what is new.
func (r *reader) news() error {
	lines, at, lost := r.s.hub.since(r.after, r.wants)
	if lost {
		return r.reset(at)
	}
	r.after = at
	for _, line := range append(lines, r.s.hub.newest(r.seen)...) {
		if err := r.write(line); err != nil {
			return err
		}
	}
	return nil
}

// still says that the stream is alive, where the reader may still read it.
func (r *reader) still(ctx context.Context) error {
	allowed, err := r.s.guard.still(ctx, r.who)
	if err != nil {
		return err
	}
	if !allowed {
		return errSignedOut
	}
	return r.write(fmt.Appendf(nil, "id: %d\n: still here\n\n", r.after))
}

func (r *reader) write(line []byte) error {
	if err := r.ctl.SetWriteDeadline(time.Now().Add(r.s.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := r.w.Write(line); err != nil {
		return err
	}
	return r.ctl.Flush()
}
