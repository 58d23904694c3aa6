package process

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/cpulimit"
)

// child is a running program. One call at a time uses it.
type child struct {
	p      *program
	cmd    *exec.Cmd
	family family // the process, and those that it started
	in     io.WriteCloser
	pipe   *os.File // its standard output; Cmd's own pipe is closed when the process ends, with an answer in it
	out    *bufio.Reader
	stderr *words
	ended  chan struct{} // closed when the process has ended
	status string        // how it ended, from then on
}

// start starts a child.
func (p *program) start() (*child, error) {
	line := p.command()
	cmd := exec.Command(line[0], line[1:]...) //nolint:noctx // it outlives the call that starts it
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	c := &child{p: p, cmd: cmd, stderr: &words{p: p}, ended: make(chan struct{})}
	cmd.Stderr = c.stderr
	cmd.WaitDelay = time.Second
	confine(cmd)
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, writes, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, c.in.Close())
	}
	cmd.Stdout, c.pipe, c.out = writes, out, bufio.NewReader(out)
	c.family, err = startBound(cmd, int64(p.limits.Memory))
	if closed := writes.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", plugin.ErrStart, errors.Join(p.startFault(err), closed, out.Close()))
	}
	go func() {
		c.family.end()
		_ = cmd.Wait() // what it wrote says more
		c.status = cmd.ProcessState.String()
		close(c.ended)
	}()
	return c, nil
}

// over reports whether the process has ended.
func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// answered is what came of an exchange.
type answered struct {
	data []byte
	err  error
}

// ask writes a frame and reads the answer, within a time by the clock and one of the CPU, of which 0 is no limit. After
// an error the child must be killed.
func (c *child) ask(ctx context.Context, frame []byte, limit, cpu time.Duration) ([]byte, error) {
	over := make(chan struct{})
	defer cpulimit.Watch(cpu, cpulimit.Process(c.cmd.Process.Pid), func() { close(over) })()
	done := make(chan answered, 1)
	go func() {
		data, err := c.exchange(frame)
		done <- answered{data, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.data, a.err
	case <-over:
		return nil, cpulimit.Error(cpu)
	case <-timer.C:
		return nil, fmt.Errorf("%w of %s by the clock", plugin.ErrTimeout, limit.Round(time.Millisecond))
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, plugin.ErrTimeout
		}
		return nil, context.Cause(ctx)
	}
}

func (c *child) exchange(frame []byte) ([]byte, error) {
	if c.spoke() {
		return nil, fmt.Errorf("%w: it wrote more than an answer to a call before; each call has one, and the last may have "+
			"got another's", plugin.ErrOrder)
	}
	if err := c.send(frame); err != nil {
		return nil, c.gone(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(c.out, head[:]); err != nil {
		return nil, c.gone(err)
	}
	if c.unread() == len(head)+len(frame) { // only what was read can be answered
		return nil, fmt.Errorf("%w: it wrote an answer before it read the call: one too many to the last", plugin.ErrOrder)
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size > int64(c.p.limits.Output) {
		return nil, fmt.Errorf("%w: %d bytes, and %d are permitted; standard output is for answers alone", plugin.ErrOutput,
			size, int64(c.p.limits.Output))
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(c.out, data); err != nil {
		return nil, c.gone(err)
	}
	return data, nil
}

// spoke reports whether there is something to read before anything was asked. It would be taken for the answer to the
// next call, and each answer for that of the call after it.
func (c *child) spoke() bool {
	if c.out.Buffered() > 0 {
		return true
	}
	raw, err := c.pipe.SyscallConn()
	if err != nil {
		return false
	}
	found := false
	_ = raw.Control(func(fd uintptr) { found = readable(fd) })
	return found
}

// unread is how much of what was sent the program has not read, as far as the system tells that.
func (c *child) unread() (n int) {
	in, ok := c.in.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := in.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n = inPipe(int(fd)) }) // a pipe that is closed holds nothing
	return n
}

func (c *child) send(frame []byte) error {
	if _, err := c.in.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(frame)))); err != nil {
		return err
	}
	_, err := c.in.Write(frame)
	return err
}

// lastWords is how long a process that has closed its standard output may take to end.
const lastWords = time.Second

// gone says how the process ended, when all that it wrote to standard error is there.
func (c *child) gone(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) {
		err = errors.New("it closed its standard output")
	}
	select {
	case <-c.ended:
		err = fmt.Errorf("%w: %s", err, c.status)
	case <-time.After(lastWords):
	}
	if text := c.stderr.last(); text != "" {
		return fmt.Errorf("%w: %w; it wrote: %s", plugin.ErrEnded, err, text)
	}
	return fmt.Errorf("%w: %w", plugin.ErrEnded, err)
}

// kill ends the process and all that it started, and waits for it.
func (c *child) kill() {
	_ = c.in.Close()
	if !c.over() { // the number of a process that has ended may be another's
		c.family.kill()
	}
	<-c.ended
	_ = c.pipe.Close() // nothing was written to it here
}

// words keeps the last of what a child writes to standard error, and passes lines to the log.
type words struct {
	p *program

	mu   sync.Mutex
	kept []byte
	said int
}

// Bounds of what a child may say.
const (
	maxKept = 1 << 10
	maxSaid = 64 << 10 // bytes in the log
)

// Write implements io.Writer.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, b...)
	w.kept = w.kept[max(len(w.kept)-maxKept, 0):]
	if w.said < maxSaid && w.p.log != nil {
		w.said += len(b)
		w.p.log.Debug("plug-in: "+oneLine(string(b[:min(len(b), maxKept)])), "plugin", w.p.d.Use())
	}
	return len(b), nil
}

func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return oneLine(string(w.kept))
}
