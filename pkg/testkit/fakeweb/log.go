package fakeweb

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Entry is one request as the server saw it, a line of the log file. Start and End are Unix times in nanoseconds that
// advance with the monotonic clock. Both err to the client's advantage, by the time the server waits for a processor:
// Start is taken after the request has come, and End before the client can have the whole answer. Of a client that
// closed the connection before its answer, the kernel says when it asked and when it went. Only where Cut is set and
// the kernel cannot say is End taken afterwards, when the server notices that the client has gone: a little late.
type Entry struct {
	// without port, lower case
	Host string `json:"host"`
	// with query
	Path   string `json:"path"`
	Method string `json:"method"`
	// 0: no status line was sent
	Status int `json:"status"`
	// seconds
	RetryAfter int `json:"retry_after,omitempty"`
	// the first byte of the request was there
	Start int64 `json:"start"`
	// the last bytes of the answer were about to go out, or the client was found gone
	End int64 `json:"end"`
	// of the answer's body as sent
	Bytes int `json:"bytes"`
	// the answer was not sent to its end
	Cut bool `json:"cut,omitempty"`
	// number of the connection
	Conn uint64 `json:"conn"`
	// address without port the client had dialled
	Local     string `json:"local"`
	Remote    string `json:"remote"`
	UserAgent string `json:"user_agent"`
}

// Log is the record of a server. It is safe for concurrent use.
type Log struct {
	since time.Time // when the web began
	mu    sync.Mutex
	keep  bool
	kept  []Entry
	count int
	file  *os.File
	out   *bufio.Writer
	err   error
	stop  chan struct{}
	done  sync.WaitGroup
}

// flushEvery is how far the log file may lag behind, for processes that read along.
const flushEvery = 200 * time.Millisecond

// newLog starts a record, in memory if keep is set, and in the named file unless that is empty.
func newLog(begin time.Time, keep bool, file string) (*Log, error) {
	l := &Log{since: begin, keep: keep, stop: make(chan struct{})}
	if file == "" {
		return l, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("fakeweb: creating the request log: %w", err)
	}
	l.file, l.out = f, bufio.NewWriterSize(f, 1<<16)
	l.done.Go(l.flushRegularly)
	return l, nil
}

func (l *Log) flushRegularly() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.mu.Lock()
			l.fail(l.out.Flush())
			l.mu.Unlock()
		case <-l.stop:
			return
		}
	}
}

// fail remembers the first error; the caller holds the lock.
func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// now is the time in the log's terms.
func (l *Log) now() int64 { return l.since.UnixNano() + int64(time.Since(l.since)) }

// pending is the place of a request in the log whose last bytes are about to go out; the zero value: it has none yet.
type pending struct {
	begun bool
	kept  int // its index in Log.kept, where that is kept
}

// begin puts a request into the log before its client can have the whole answer, so that who has it finds the request
// there.
func (l *Log) begin(e Entry) pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if l.keep {
		l.kept = append(l.kept, e)
	}
	return pending{begun: true, kept: len(l.kept) - 1}
}

// end says what became of a request, begun or not, and writes it to the file: that cannot be put right later.
func (l *Log) end(p pending, e Entry) {
	if !p.begun {
		p = l.begin(e)
	}
	var line []byte
	if l.out != nil {
		line, _ = json.Marshal(e) // strings and numbers always marshal
		line = append(line, '\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keep {
		l.kept[p.kept] = e
	}
	if l.out != nil && l.err == nil {
		_, err := l.out.Write(line)
		l.fail(err)
	}
}

// Entries is a copy of the finished requests in the order they ended: of all whose answer a client has, among them.
// It is empty when the server keeps none.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.kept...)
}

// Count is how many requests have ended, kept or not: all whose answer a client has, among them.
func (l *Log) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// close writes what is left and reports the first error of the log's life.
func (l *Log) close() error {
	if l.out == nil {
		return nil
	}
	close(l.stop)
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail(l.out.Flush())
	l.fail(l.file.Close())
	if l.err != nil {
		return fmt.Errorf("fakeweb: writing the request log %s: %w", l.file.Name(), l.err)
	}
	return nil
}

// ReadLog reads a log file. A last line that is cut off, as a killed server leaves it, is passed over.
func ReadLog(r io.Reader) ([]Entry, error) {
	var entries []Entry
	dec := json.NewDecoder(r)
	for {
		var e Entry
		switch err := dec.Decode(&e); {
		case err == nil:
			entries = append(entries, e)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return entries, nil
		default:
			return entries, fmt.Errorf("fakeweb: reading request %d of the log: %w", len(entries)+1, err)
		}
	}
}
