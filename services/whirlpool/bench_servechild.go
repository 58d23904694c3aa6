package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

// servedChild is a `whirlpool serve` in a process of its own.
type servedChild struct {
	cmd    *exec.Cmd
	at     server
	client *client.Client
	ready  time.Duration // until it said where it is
}

// startServer starts a server on the directory.
func (b *serveBench) startServer(ctx context.Context) (*servedChild, error) {
	args := []string{b.exe, "serve", "--dir", b.dir, "--listen", "127.0.0.1:0", "--allow-private", "--dns", b.web.DNS,
		"--log-level", "warn"}
	if b.cores != "" {
		args = append([]string{"taskset", "-c", b.cores}, args...)
	}
	s := &servedChild{cmd: exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...)} //nolint:gosec // this program
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start whirlpool serve: %w", err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	s.ready = time.Since(began)
	if err == nil {
		err = s.connect(b.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("whirlpool serve: %w", err), s.end())
	}
	return s, nil
}

// connect reads where the server is, and by which key it lets programs of this machine in.
func (s *servedChild) connect(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, runningFile))
	if err == nil {
		err = json.Unmarshal(data, &s.at)
	}
	if err == nil {
		s.client, err = client.New(s.at.URL, s.at.Key)
	}
	return err
}

// end ends the server as Ctrl-C does.
func (s *servedChild) end() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return s.cmd.Wait()
}

// cpu is the processor time that the server took so far.
func (s *servedChild) cpu() (time.Duration, error) {
	data, err := os.ReadFile(s.proc("stat"))
	if err != nil {
		return 0, err
	}
	_, cpu, ok := parseStat(string(data))
	if !ok {
		return 0, fmt.Errorf("%s cannot be read", s.proc("stat"))
	}
	return cpu, nil
}

func (s *servedChild) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), name)
}

// memory is what stands of a server in /proc: resident, and of that in memory of its own; and its open files.
func (s *servedChild) memory() (rss, anon int64, files int, err error) {
	data, err := os.ReadFile(s.proc("status"))
	if err != nil {
		return 0, 0, 0, err
	}
	for _, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch kb, _ := strconv.ParseInt(f[1], 10, 64); f[0] {
		case "VmRSS:":
			rss = kb << 10
		case "RssAnon:":
			anon = kb << 10
		}
	}
	open, err := os.ReadDir(s.proc("fd"))
	return rss, anon, len(open), err
}
