package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Controls change the course of a crawl that runs.
type Controls struct {
	Pause func(paused bool) // leases nothing more, or goes on
	Stop  func()            // finishes what is in flight, then ends
	// Job returns the specification that applies; nil: it cannot be told.
	Job func(ctx context.Context) (*crawl.Job, error)
	// Revise makes a specification the one that applies from the next lease on, and returns its epoch and what it
	// changes; nil: it cannot be done.
	Revise func(ctx context.Context, job *crawl.Job) (*Revised, error)
}

// Revised is what a revision of a job changed. Nothing: it was the same specification.
type Revised struct {
	Job     crawl.JobID    `json:"job"`
	Epoch   uint32         `json:"epoch"`
	Changes []crawl.Change `json:"changes"`
}

// Paths of the API. GET answers questions, POST changes the course.
const (
	pathStatus  = "/status"
	pathExplain = "/explain" // ?url=
	pathLetters = "/letters"
	pathAudit   = "/audit"
	pathPause   = "/pause"
	pathResume  = "/resume"
	pathStop    = "/stop"
	pathJob     = "/job"
)

// failure is the body of an answer that is none.
type failure struct {
	Error string `json:"error"`
}

// done is the answer to a command.
type done struct {
	State string `json:"state"`
}

// Handler serves a view over HTTP.
func Handler(v View, c Controls) http.Handler {
	mux := http.NewServeMux()
	get := func(path string, answer func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { reply(w, r, answer) })
	}
	post := func(path, state string, act func()) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			act()
			reply(w, r, func(*http.Request) (any, error) { return done{state}, nil })
		})
	}
	get(pathStatus, func(r *http.Request) (any, error) { return v.Status(r.Context()) })
	get(pathExplain, func(r *http.Request) (any, error) { return v.Explain(r.Context(), r.FormValue("url")) })
	get(pathLetters, func(r *http.Request) (any, error) { return v.Letters(r.Context()) })
	get(pathAudit, func(r *http.Request) (any, error) { return v.Audit(r.Context()) })
	post(pathPause, "paused", func() { c.Pause(true) })
	post(pathResume, "running", func() { c.Pause(false) })
	post(pathStop, "stopping", c.Stop)
	if c.Job != nil {
		get(pathJob, func(r *http.Request) (any, error) { return specOf(r.Context(), c) })
	}
	if c.Revise != nil {
		mux.HandleFunc("POST "+pathJob, func(w http.ResponseWriter, r *http.Request) {
			reply(w, r, func(r *http.Request) (any, error) { return revise(r, c) })
		})
	}
	return mux
}

// spec is a job with its epoch.
type spec struct {
	Epoch uint32     `json:"epoch"`
	Job   *crawl.Job `json:"job"`
}

func specOf(ctx context.Context, c Controls) (*spec, error) {
	job, err := c.Job(ctx)
	if err != nil {
		return nil, err
	}
	return &spec{Epoch: crawl.EpochOf(job.Epoch), Job: job}, nil
}

// maxJob bounds a specification: a blacklist may be long.
const maxJob = 64 << 20

func revise(r *http.Request, c Controls) (*Revised, error) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxJob))
	if err != nil {
		return nil, err
	}
	job, err := crawl.DecodeJob(data, 0)
	if err != nil {
		return nil, err
	}
	return c.Revise(r.Context(), job)
}

func reply(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	v, err := answer(r)
	status := http.StatusOK
	switch {
	case errors.Is(err, ErrURL):
		status, v = http.StatusBadRequest, failure{err.Error()}
	case err != nil:
		status, v = http.StatusInternalServerError, failure{err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = WriteJSON(w, v) // the client has gone
}

// WriteJSON writes v as one JSON text, indented for people.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Server answers questions about a crawl that runs.
type Server struct {
	http    *http.Server
	stop    context.CancelFunc
	cleanup func() error
	ended   chan error
	once    sync.Once
}

// closePatience is how long Close waits for clients that connected and say nothing.
const closePatience = time.Second

// Serve listens at the socket of the crawl directory dir until Close. The caller must have the directory's lock.
func Serve(ctx context.Context, dir string, h http.Handler) (*Server, error) {
	l, cleanup, err := listen(dir)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{stop: stop, cleanup: cleanup, ended: make(chan error, 1), http: &http.Server{Handler: h,
		BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes: 64 << 10}}
	go func() { s.ended <- s.http.Serve(l) }()
	return s, nil
}

// Close ends the answers under way, waits for them, and removes the socket. After it nothing asks the view any more.
func (s *Server) Close() (err error) {
	s.once.Do(func() { err = s.close() })
	return err
}

func (s *Server) close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if e := <-s.ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, s.cleanup()); err != nil {
		return fmt.Errorf("close the control socket: %w", err)
	}
	return nil
}

// remove removes a file that need not be there; empty: none.
func remove(name string) error {
	if name == "" {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
