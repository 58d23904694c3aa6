//go:build unix

package report

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTheUserMayTalkToTheCrawlAndNothingIsLeftOfIt(t *testing.T) {
	for name, dir := range map[string]string{
		"short path": crawlDirectory(t, "crawl"),
		"long path":  crawlDirectory(t, strings.Repeat("long-", 30)),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, dir, fake{status: func(context.Context) (*Status, error) { return &Status{Pages: 5}, nil }},
				Controls{})
			socket, err := find(dir)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("socket %s: %v, %v; want mode 0600", socket, info, err)
			}
			if st, err := dial(t, dir).Status(t.Context()); err != nil || st.Pages != 5 {
				t.Errorf("Status = %+v, %v", st, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(socket); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", socket, err)
			}
			if entries, err := os.ReadDir(filepath.Join(dir, "state")); err != nil || len(entries) > 0 {
				t.Errorf("left in state: %v, %v", entries, err)
			}
			if _, err := Dial(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
				t.Errorf("Dial after Close = %v", err)
			}
		})
	}
}

func TestASocketOfADeadProcessIsReplaced(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	socket, _, err := socketPaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Fatalf("no socket is left: the test proves nothing: %v", err)
	}
	if _, err := Dial(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Dial of a dead process = %v, want ErrNotRunning", err)
	}
	serve(t, dir, fake{}, Controls{})
	dial(t, dir)
}
