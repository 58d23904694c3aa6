package directory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// room is what opening the state of a crawl writes at most.
const room = 256 << 10

// checkRoom refuses a directory whose disk is full. A store waits for space without end, as a crawl wants it to; a
// command that only asks would wait without a word.
func checkRoom(dir string) error {
	f, err := os.CreateTemp(filepath.Join(dir, "state"), ".room-*")
	if err == nil {
		_, err = f.Write(make([]byte, room))
		_ = errors.Join(f.Close(), os.Remove(f.Name())) // best effort
	}
	if system.Full(err) {
		return fmt.Errorf("the disk of %s is full, and opening the state of its crawl takes %d KiB: make room and ask again",
			dir, room>>10)
	}
	return nil // whatever else is wrong there, the store says it better
}
