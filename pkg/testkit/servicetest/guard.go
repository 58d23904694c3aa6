package servicetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Guard has the services of a directory removed, with all that lies in root, when the returned function is called, or
// when this process has ended in whatever way: by a signal, by the time limit of its tests. The process that does it
// waits for the end of its input, which nobody else holds, and has a session of its own, so that signals to ours do not
// reach it. What cannot be stopped keeps its files.
func Guard(dir, root string) (remove func() error, err error) {
	down, err := script("down")
	if err != nil {
		return nil, err
	}
	const wait = `read -r _; "$0" "$1" --purge && rm -rf "$2"`
	said, err := os.CreateTemp("", "whirlpool-guard-") // a pipe would have no reader when this process has ended
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", wait, down, dir, root) //nolint:noctx // it ends after us
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = ownSession()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err = errors.Join(err, os.Remove(said.Name())); err != nil {
		return nil, errors.Join(err, said.Close())
	}
	return func() error {
		defer said.Close()
		_ = in.Close() // the process may have been killed
		if err := cmd.Wait(); err != nil {
			text := make([]byte, 4096)
			n, _ := said.ReadAt(text, 0)
			return fmt.Errorf("remove the services of %s: %w\n%s", dir, err, text[:n])
		}
		return nil
	}, nil
}
