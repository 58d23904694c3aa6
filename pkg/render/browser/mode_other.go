//go:build !linux

package browser

import (
	"os"
	"os/exec"
)

// mode is how the browser is started. Here there is none.
type mode struct{}

func modes(cfg Config) ([]mode, error) {
	return nil, &UnavailableError{cfg.Path,
		"pages are rendered under Linux only, where the browser can be kept from the network", nil}
}

func startError(path string, _ mode, err error) error {
	return &UnavailableError{path, "it does not start", err}
}

func (m mode) String() string      { return "none" }
func (m mode) arguments() []string { return nil }
func (m mode) apply(*exec.Cmd)     {}
func (m mode) own(string) error    { return nil }
func (m mode) kill(p *process)     { _ = p.cmd.Process.Kill() }

func lockFile(*os.File) bool { return false }

func (p *process) pss() int64 { return 0 }

func (p *process) finish([]int64) bool { return true }

func runs(int64) bool { return false }
