package rabbit

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// wireRoom is how many bytes may wait to be written before publishers wait.
const wireRoom = 1 << 20

// wire gathers what is written to a connection while the last write is under way. The client library writes and flushes
// each message and each acknowledgement by itself: a system call each, where many goroutines publish and acknowledge at
// once. Write never blocks, so no lock of the library is ever held for a broker that does not read; [wire.room] makes
// publishers wait instead.
type wire struct {
	net.Conn
	in    *bufio.Reader
	wake  chan struct{} // holds one value while there is something to write, or to end
	ended chan struct{}

	mu      sync.Mutex
	buf     []byte
	written chan struct{} // closed, and made anew, when buf was taken
	err     error         // nothing is written any more
}

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c, in: bufio.NewReaderSize(c, readRoom), wake: make(chan struct{}, 1), ended: make(chan struct{}), written: make(chan struct{})}
	go w.run()
	return w
}

// readRoom is how many bytes are read at once. The library reads 4 KB at a time, a message or two.
const readRoom = 64 << 10

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) { return w.in.Read(p) }

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	w.signal()
	return len(p), nil
}

func (w *wire) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// room waits until few bytes wait to be written.
func (w *wire) room(ctx context.Context) error {
	for {
		w.mu.Lock()
		full, written := w.err == nil && len(w.buf) >= wireRoom, w.written
		w.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-written:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// keptBuffer is the capacity up to which a buffer is used again.
const keptBuffer = 256 << 10

// run writes what has gathered, until the wire is closed or breaks. Then it closes the connection, which the library's
// reader notices.
func (w *wire) run() {
	defer close(w.ended)
	defer w.Conn.Close()
	var spare []byte
	for range w.wake {
		data, open := w.take(spare[:0])
		_, err := w.Conn.Write(data)
		if err != nil {
			w.fail(err)
		}
		if err != nil || !open {
			return
		}
		if spare = data; cap(spare) > keptBuffer {
			spare = nil
		}
	}
}

// take takes what is to be written and leaves an empty buffer. It reports whether more may come.
func (w *wire) take(empty []byte) (data []byte, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, w.buf = w.buf, empty
	close(w.written)
	w.written = make(chan struct{})
	return data, w.err == nil
}

func (w *wire) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	close(w.written)
	w.written = make(chan struct{})
}

// Close writes what it can within a second, and closes the connection.
func (w *wire) Close() error {
	w.fail(net.ErrClosed)
	_ = w.SetWriteDeadline(time.Now().Add(time.Second))
	w.signal()
	<-w.ended
	return nil
}

// cut closes the connection at once, as the end of a process would.
func (w *wire) cut() { _ = w.Conn.Close() }
