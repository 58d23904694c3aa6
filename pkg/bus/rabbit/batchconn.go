package rabbit

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// batchRoom is how many bytes may wait to be written before publishers wait.
const batchRoom = 1 << 20

// batchConn collects what is written to a connection while the last write is in flight. The client library writes and
// flushes each message and each acknowledgement by itself, one system call each, although many goroutines publish and
// acknowledge at once. Write never blocks, so no lock of the library is held while a broker does not read;
// [batchConn.room] makes publishers wait instead.
type batchConn struct {
	net.Conn
	in    *bufio.Reader
	wake  chan struct{} // holds one value while there is something to write, or to end
	ended chan struct{}

	mu      sync.Mutex
	buf     []byte
	written chan struct{} // closed, and made anew, when buf was taken
	err     error         // nothing is written any more
}

func newBatchConn(c net.Conn) *batchConn {
	w := &batchConn{Conn: c, in: bufio.NewReaderSize(c, readRoom), wake: make(chan struct{}, 1),
		ended: make(chan struct{}), written: make(chan struct{})}
	go w.run()
	return w
}

// readRoom is how many bytes are read at once. The library reads 4 KB at a time, a message or two.
const readRoom = 64 << 10

// Read implements net.Conn.
func (w *batchConn) Read(p []byte) (int, error) { return w.in.Read(p) }

// Write implements net.Conn.
func (w *batchConn) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	w.signal()
	return len(p), nil
}

func (w *batchConn) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// room waits until few bytes wait to be written.
func (w *batchConn) room(ctx context.Context) error {
	for {
		w.mu.Lock()
		full, written := w.err == nil && len(w.buf) >= batchRoom, w.written
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

// run writes the collected bytes until the connection is closed or fails. Then it closes the connection, which the
// reader of the library notices.
func (w *batchConn) run() {
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
func (w *batchConn) take(empty []byte) (data []byte, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, w.buf = w.buf, empty
	close(w.written)
	w.written = make(chan struct{})
	return data, w.err == nil
}

func (w *batchConn) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	close(w.written)
	w.written = make(chan struct{})
}

// Close writes what it can within a second, and closes the connection.
func (w *batchConn) Close() error {
	w.fail(net.ErrClosed)
	_ = w.SetWriteDeadline(time.Now().Add(time.Second))
	w.signal()
	<-w.ended
	return nil
}

// cut closes the connection at once, as the end of a process would.
func (w *batchConn) cut() { _ = w.Conn.Close() }
