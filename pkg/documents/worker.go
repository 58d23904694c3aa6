package documents

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// worker is a process that opens documents, one at a time.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	err    tail
	served int
	timer  *time.Timer // ends it while it waits
	once   sync.Once
	state  string // how it ended
}

// errDeadline is why a process was killed.
var errDeadline = errors.New("it took too long")

// startTime is what a process has for its first document besides: it compiles PDFium, for 5 seconds where nothing else
// runs. One that is killed meanwhile leaves nothing compiled, and the next would not come further.
const startTime = 3 * time.Minute

func startWorker(program, cache string) (*worker, error) {
	w := &worker{cmd: exec.Command(program, Argument)} //nolint:noctx // it outlives the document; kill ends it
	w.cmd.Env = []string{cacheVariable + "=" + cache, "GOMAXPROCS=2", "PATH=" + os.Getenv("PATH")}
	w.cmd.Stderr = &w.err
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<16)
	return w, w.cmd.Start()
}

// open has the process open a document. An error is its death, or ctx is done: kill it then.
func (w *worker) open(ctx context.Context, r *crawl.OpenRequest) (*crawl.Opened, error) {
	allowed := r.Time
	if w.served == 0 {
		allowed += startTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, allowed, errDeadline)
	defer cancel()
	type answer struct {
		got crawl.Opened
		err error
	}
	done := make(chan *answer, 1)
	go func() {
		a := &answer{}
		if a.err = writeRequest(w.in, r); a.err == nil {
			a.err = readFrame(w.out, maxAnswer, &a.got)
		}
		done <- a
	}()
	select {
	case a := <-done:
		return &a.got, a.err
	case <-ctx.Done():
		w.kill()
		<-done // its pipes are closed
		return nil, context.Cause(ctx)
	}
}

// kill ends the process and waits for it.
func (w *worker) kill() {
	w.once.Do(func() {
		_ = w.in.Close()
		_ = w.cmd.Process.Kill() // it may have ended
		if err := w.cmd.Wait(); err != nil {
			w.state = err.Error()
		}
	})
}

// failedAtOnce reports whether the process could not even begin: that is our fault, not the document's.
func (w *worker) failedAtOnce() bool { return strings.Contains(w.err.String(), "open documents:") }

// verdict says of what a process died that was killed.
func (w *worker) verdict(r *crawl.OpenRequest, died error) *crawl.Opened {
	text := w.err.String()
	switch {
	case errors.Is(died, errDeadline):
		return failed(crawl.ReasonDocumentTime, fmt.Sprintf("to read it takes longer than documents.time, %v", r.Time))
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate memory"):
		return failed(crawl.ReasonDocumentMemory, "to read it takes more memory than a document may have")
	}
	return failed(crawl.ReasonDocumentCrash, fmt.Sprintf("the process that read it died: %v; %s", died, firstLine(text)))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// tail keeps the beginning of what a process says of its death.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 4 << 10
	t.buf.Write(p[:min(len(p), max(most-t.buf.Len(), 0))])
	return len(p), nil
}

// String returns what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
