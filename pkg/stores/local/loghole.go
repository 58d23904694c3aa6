package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Pebble replays its newest log up to the first part that it cannot read, since a log whose writer was killed ends
// anywhere. Damage in the middle looks the same to it, so that the state silently becomes an older one. A kill leaves
// nothing that can be read behind the end; damage does, and so may a power failure.

// The format of Pebble's logs: blocks with chunks, of which none crosses the end of a block.
const (
	logBlock  = 32 << 10
	logHeader = 11 // checksum (4), length (2), kind (1), number of the log (4)
)

// logHole looks for a part of the newest log in a database's directory that cannot be read and has readable parts
// behind it. name is empty where there is none.
func logHole(dir string) (name string, at int64, err error) {
	logs, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.log"))
	if err != nil || len(logs) == 0 {
		return "", 0, err
	}
	slices.Sort(logs) // their numbers have leading zeros
	newest := logs[len(logs)-1]
	number, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(newest), ".log"), 10, 64)
	if err != nil {
		return "", 0, nil //nolint:nilerr // it is no log of Pebble's
	}
	f, err := os.Open(newest)
	if err != nil {
		return "", 0, fmt.Errorf("look for damage in the state's log: %w", err)
	}
	defer func() { _ = f.Close() }()
	at, err = holeIn(f, uint32(number)) //nolint:gosec // a log's chunks have the low bits of its number
	if at < 0 || err != nil {
		return "", 0, err
	}
	return newest, at, nil
}

var globMeta = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func escapeGlob(dir string) string { return globMeta.Replace(dir) }

// holeIn returns where the first part of a log lies that cannot be read and has a readable one behind it; -1: nowhere.
func holeIn(log io.Reader, number uint32) (int64, error) {
	block, hole := make([]byte, logBlock), int64(-1)
	for start := int64(0); ; start += logBlock {
		n, err := io.ReadFull(log, block)
		for i := 0; i+logHeader <= n; {
			length, ok := chunk(block[i:n], number)
			switch {
			case ok && hole >= 0:
				return hole, nil
			case ok:
				i += length
				continue
			case hole < 0:
				hole = start + int64(i)
			}
			i++
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return -1, nil
		case err != nil:
			return -1, fmt.Errorf("look for damage in the state's log: %w", err)
		}
	}
}

// chunk returns the length of the chunk at the start of b; ok is false where there is none that is whole.
func chunk(b []byte, number uint32) (length int, ok bool) {
	kind := b[6]
	if kind < 5 || kind > 8 || binary.LittleEndian.Uint32(b[7:]) != number { // full, first, middle, last
		return 0, false
	}
	length = logHeader + int(binary.LittleEndian.Uint16(b[4:]))
	if length > len(b) {
		return 0, false
	}
	sum := crc32.Checksum(b[6:length], castagnoli)
	return length, binary.LittleEndian.Uint32(b) == (sum>>15|sum<<17)+0xa282ead8
}

// lookForHole tells that the state is about to become an older one.
func (s *Store) lookForHole() error {
	name, at, err := logHole(s.path("state", "db"))
	if err != nil || name == "" {
		return err
	}
	s.log.Error("the log of the state is damaged: what the crawl did after the last thing that can be read is forgotten, "+
		"and done again; a copy of the directory from before would know it", "file", name, "byte", at)
	return nil
}
