package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/cpulimit"
)

// guest is an instance of a module. One call at a time uses it.
type guest struct {
	m      *loaded
	mod    api.Module
	now    time.Time
	random *rand.ChaCha8
	log    []string
	said   int // bytes of log
	stderr tail
	calls  int
	ticks  int64
}

type guestKey struct{}

// guest makes a guest, and checks that it speaks our interface.
func (m *loaded) guest(ctx context.Context) (*guest, error) {
	g := &guest{m: m}
	g.begin(time.Unix(0, 0), "")
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithStderr(&g.stderr).
		WithWalltime(func() (int64, int32) { return g.now.Unix(), int32(g.now.Nanosecond()) }, sys.ClockResolution(1)).
		WithNanotime(g.nanotime, sys.ClockResolution(1)).
		WithNanosleep(func(int64) {}).WithRandSource(g)
	mod, err := m.runtime.InstantiateModule(context.WithValue(ctx, guestKey{}, g), m.code, cfg)
	if err != nil {
		return nil, failure(ctx, err, false, g.stderr.String())
	}
	g.mod = mod
	version, err := g.invoke(ctx, "whirlpool_abi")
	if err == nil && uint32(version) != 1 {
		err = fmt.Errorf("it speaks whirlpool:%d, and this program %s", uint32(version), plugin.ABI)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// begin gives the guest the clock and the random bytes of a call.
func (g *guest) begin(now time.Time, id string) {
	g.now, g.random = now, rand.NewChaCha8(sha256.Sum256([]byte(id)))
	g.log, g.said = nil, 0
	g.stderr.Reset()
}

// nanotime is the monotonic clock: a millisecond later with each look, so that who waits for it does not wait for ever.
func (g *guest) nanotime() int64 {
	g.ticks += int64(time.Millisecond)
	return g.ticks
}

// Read implements io.Reader: random bytes.
func (g *guest) Read(p []byte) (int, error) { return g.random.Read(p) }

func (g *guest) say(line string) {
	if g.said+len(line) > maxLog {
		return
	}
	g.said += len(line)
	g.log = append(g.log, strings.ToValidUTF8(line, "\uFFFD"))
}

// callWithin is call with a limit of its CPU time; 0: none.
func (g *guest) callWithin(ctx context.Context, limit time.Duration, export string, frame []byte) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer cpulimit.Watch(limit, cpulimit.Thread(), func() { cancel(cpulimit.Error(limit)) })()
	return g.call(ctx, export, frame)
}

// call passes a frame to an export, and returns a copy of the answer.
func (g *guest) call(ctx context.Context, export string, frame []byte) ([]byte, error) {
	g.calls++
	at, err := g.invoke(ctx, "wp_alloc", uint64(len(frame)))
	if err != nil {
		return nil, err
	}
	if !g.mod.Memory().Write(uint32(at), frame) {
		return nil, fmt.Errorf("%w: wp_alloc(%d) returned an address outside of its memory", plugin.ErrAnswer, len(frame))
	}
	answer, err := g.invoke(ctx, export, uint64(len(frame)))
	if err != nil {
		return nil, err
	}
	size := uint32(answer)
	if int64(size) > int64(g.m.limits.Output) {
		return nil, fmt.Errorf("%w: %d bytes, and %d are permitted", plugin.ErrOutput, size, int64(g.m.limits.Output))
	}
	data, ok := g.mod.Memory().Read(uint32(answer>>32), size)
	if !ok {
		return nil, fmt.Errorf("%w: it points outside of its memory", plugin.ErrAnswer)
	}
	return bytes.Clone(data), nil
}

// invoke calls an export. After an error the guest must be closed.
func (g *guest) invoke(ctx context.Context, export string, args ...uint64) (result uint64, err error) {
	out, err := g.mod.ExportedFunction(export).Call(context.WithValue(ctx, guestKey{}, g), args...)
	if err != nil {
		return 0, failure(ctx, err, g.full(), g.stderr.String())
	}
	return out[0], nil
}

func (g *guest) memory() int64 { return int64(g.mod.Memory().Size()) }

// full reports whether a failure may come of a lack of memory: more than three quarters are taken, or it says so.
func (g *guest) full() bool {
	return g.memory() > int64(g.m.limits.Memory)/4*3 || strings.Contains(g.stderr.String(), "out of memory")
}

func (g *guest) close() { _ = g.mod.Close(context.Background()) }

// tail keeps the first bytes that were written.
type tail struct{ bytes.Buffer }

// maxStderr bounds what is kept of a guest's words.
const maxStderr = 1 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	if room := maxStderr - t.Len(); room > 0 {
		t.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
