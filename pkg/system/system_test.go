package system

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheDiskAndTheProcessorAreKnown(t *testing.T) {
	d, err := DiskOf(t.TempDir())
	if err != nil || d.All <= 0 || d.Used <= 0 || d.Used >= d.All || d.Fraction() <= 0 || d.Fraction() > 1 {
		t.Errorf("DiskOf = %+v (%v full), %v", d, d.Fraction(), err)
	}
	if _, err := DiskOf(filepath.Join(t.TempDir(), "not", "there")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("DiskOf of a directory that is not there = %v", err)
	}
	for began := time.Now(); ; {
		if used, ok := ProcessorTime(); used > 0 && ok {
			break
		} else if time.Since(began) > time.Minute {
			t.Fatalf("ProcessorTime = %v, %v", used, ok)
		}
	}
}

// A file of which only one process may be the owner can still be read, renamed and removed.
func TestALockedFile(t *testing.T) {
	dir := t.TempDir()
	name, moved := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	f, err := OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Lock(f); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "text"); err != nil {
		t.Fatal(err)
	}
	again, err := OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Lock(again); err == nil {
		t.Error("it was locked twice")
	}
	if got, err := io.ReadAll(again); string(got) != "text" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := os.Rename(name, moved); err != nil {
		t.Errorf("rename: %v", err)
	}
	if err := os.Remove(moved); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := errors.Join(SyncDir(dir), again.Close()); err != nil {
		t.Error(err)
	}
	if _, err := OpenFile(filepath.Join(dir, "no", "file"), os.O_RDONLY, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestErrorsOfTheNetworkAreKnown(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := net.Listen("tcp4", l.Addr().String()); !Taken(err) {
		t.Errorf("an address that is taken: %v", err)
	}
	if _, err := net.Listen("tcp4", "192.0.2.1:0"); !NoAddress(err) {
		t.Errorf("the address of another machine: %v", err)
	}
	if err := resetBy(l); !Reset(err) {
		t.Errorf("a connection that was reset: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_ = r.Close()
	if _, err := io.WriteString(w, "x"); !Unread(err) {
		t.Errorf("a pipe that nobody reads: %v", err)
	}
	if !Full(fmt.Errorf("write: %w", full[0])) || Full(nil) || Full(io.EOF) || !FullSays("write a: "+full[0].Error()) {
		t.Error("a full disk is not known")
	}
}

// resetBy returns what a client reads of a connection that its server resets.
func resetBy(l net.Listener) error {
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	far, err := l.Accept()
	if err != nil {
		return err
	}
	if err := errors.Join(far.(*net.TCPConn).SetLinger(0), far.Close()); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}
