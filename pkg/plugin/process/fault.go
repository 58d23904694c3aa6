package process

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// startFault says why a program cannot be started: of a script without its interpreter the system says that the script
// is not there, which it is.
func (p *program) startFault(err error) error {
	switch line := p.firstLine(); {
	case system.NoProgram(err):
		return fmt.Errorf("%s is no program of this machine, and a script begins with #! and its interpreter, as in "+
			"#!/usr/bin/python3", p.d.Entry)
	case errors.Is(err, fs.ErrPermission) && !p.executable():
		return fmt.Errorf("%s is not executable: chmod +x it, and push it as another version", p.d.Entry)
	case errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(line, "\r"):
		return fmt.Errorf("the lines of %s end with CR LF, and its interpreter is not called %q: end them with LF",
			p.d.Entry, strings.TrimSpace(line[2:])+"\r")
	case errors.Is(err, fs.ErrNotExist) && line != "":
		return fmt.Errorf("there is no %s, which the first line of %s names", strings.TrimSpace(line[2:]), p.d.Entry)
	}
	return err
}

// firstLine is the line of a script that names its interpreter; empty: it is none.
func (p *program) firstLine() string {
	const most = 256 // bytes, of which the system reads no more
	f, err := os.Open(p.file)
	if err != nil {
		return ""
	}
	defer f.Close()
	start, _ := bufio.NewReaderSize(f, most).Peek(most) // of a shorter file it is all there is
	line, _, _ := strings.Cut(string(start), "\n")
	if !strings.HasPrefix(line, "#!") {
		return ""
	}
	return line
}

func (p *program) executable() bool {
	info, err := os.Stat(p.file)
	return err == nil && info.Mode()&0o111 != 0
}
