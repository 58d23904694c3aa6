package rabbit

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func TestBatchConnGathersWhatIsWrittenWhileAWriteIsUnderWay(t *testing.T) {
	ours, theirs := net.Pipe()
	w := newBatchConn(ours)
	defer w.Close()
	for _, s := range []string{"a", "bc", "def"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	got := make([]byte, 6)
	if _, err := io.ReadFull(theirs, got); err != nil || string(got) != "abcdef" {
		t.Fatalf("arrived %q, %v", got, err)
	}
	theirs.Close()
}

// Write must not block on a broker that does not read; publishers block in room, where their context can end the wait.
func TestBatchConnNeverBlocksButPublishersWaitForRoom(t *testing.T) {
	ours, theirs := net.Pipe()
	w := newBatchConn(ours)
	for i := range 3 {
		w.mu.Lock()
		taken := w.written
		w.mu.Unlock()
		if _, err := w.Write(make([]byte, batchRoom)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-taken // this one is under way, so the others wait
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := w.room(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("room = %v while nobody reads", err)
	}
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	if err := w.room(context.Background()); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Write after Close = %v", err)
	}
	theirs.Close()
}

func TestBatchConnClosesWhatItCannotWriteTo(t *testing.T) {
	ours, theirs := net.Pipe()
	w := newBatchConn(ours)
	_ = theirs.Close()
	_, _ = w.Write([]byte("x"))
	<-w.ended
	if err := w.room(context.Background()); err != nil {
		t.Errorf("room = %v: the connection's end is told by others", err)
	}
	_ = w.Close()
}

func TestAShutGateBlocks(t *testing.T) {
	g := newGate()
	if err := g.wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	g.set(true)
	g.set(true)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait at a shut gate = %v", err)
	}
	through := make(chan error)
	go func() { through <- g.wait(context.Background()) }()
	g.set(false)
	if err := <-through; err != nil {
		t.Error(err)
	}
}
