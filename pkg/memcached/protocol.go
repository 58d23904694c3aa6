package memcached

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// The text protocol of memcached (doc/protocol.txt), as much as a cache needs: get and set, many at a time. A client of our own,
// because in bradfitz/gomemcache each set is a round trip, and its time limits are for a line, not for a call.

// item is a value to store.
type item struct {
	key   string
	value []byte
	ttl   time.Duration
}

// Verbs that store an item: always, or only where there is none.
const (
	verbSet = "set"
	verbAdd = "add"
)

const (
	getKeys   = 100        // keys in one line; servers bound its length
	maxValue  = 1 << 20    // bytes of a value, as the servers have it by default
	maxSecond = 30 * 86400 // larger times are dates to memcached
)

// errProtocol says that a server does not speak the protocol; the connection is of no use any more.
var errProtocol = errors.New("the server does not speak memcached's protocol")

// appendGet appends the request for keys.
func appendGet(b []byte, keys []string) []byte {
	for i, k := range keys {
		switch {
		case i == 0:
			b = append(b, "get"...)
		case i%getKeys == 0:
			b = append(b, "\r\nget"...)
		}
		b = append(append(b, ' '), k...)
	}
	return append(b, "\r\n"...)
}

// appendStore appends the request to store an item. A part of a second counts as one.
func appendStore(b []byte, verb string, it item) []byte {
	seconds := min(int64((it.ttl+time.Second-1)/time.Second), maxSecond)
	b = append(append(append(b, verb...), ' '), it.key...)
	b = strconv.AppendInt(append(b, " 0 "...), max(seconds, 1), 10)
	b = strconv.AppendInt(append(b, ' '), int64(len(it.value)), 10)
	b = append(append(b, "\r\n"...), it.value...)
	return append(b, "\r\n"...)
}

// readGet reads the answer to appendGet. found gets the place of the key and a value that is good during the call.
func readGet(r *bufio.Reader, keys []string, found func(i int, value []byte)) error {
	at := 0
	for ends := (len(keys) + getKeys - 1) / getKeys; ends > 0; {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		if bytes.Equal(line, []byte("END")) {
			ends--
			continue
		}
		key, size, err := parseValue(line)
		if err != nil {
			return err
		}
		for at < len(keys) && keys[at] != string(key) { // those before are missing
			at++
		}
		if at == len(keys) {
			return fmt.Errorf("%w: it answered with a key that it was not asked for", errProtocol)
		}
		value, err := readData(r, size)
		if err != nil {
			return err
		}
		found(at, value)
		at++
	}
	return nil
}

// parseValue reads "VALUE <key> <flags> <bytes>".
func parseValue(line []byte) (key []byte, size int, err error) {
	f := bytes.Fields(line)
	if len(f) < 4 || string(f[0]) != "VALUE" {
		return nil, 0, fmt.Errorf("%w: %.60q", errProtocol, line)
	}
	size, err = strconv.Atoi(string(f[3]))
	if err != nil || size < 0 || size > maxValue {
		return nil, 0, fmt.Errorf("%w: %.60q", errProtocol, line)
	}
	return f[1], size, nil
}

// readData reads a value and the line's end behind it. A short one lies in the reader's buffer.
func readData(r *bufio.Reader, size int) ([]byte, error) {
	var b []byte
	var err error
	if size+2 <= r.Size() {
		if b, err = r.Peek(size + 2); err == nil {
			_, err = r.Discard(size + 2)
		}
	} else {
		b = make([]byte, size+2)
		_, err = io.ReadFull(r, b)
	}
	if err != nil {
		return nil, err
	}
	if string(b[size:]) != "\r\n" {
		return nil, fmt.Errorf("%w: a value is longer than was said", errProtocol)
	}
	return b[:size], nil
}

// readStored reads the answers to n requests of appendStore.
func readStored(r *bufio.Reader, n int) error {
	for range n {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		switch string(line) {
		case "STORED", "NOT_STORED":
		default:
			return fmt.Errorf("the server did not store a value: %.60q", line)
		}
	}
	return nil
}

// readLine returns the next line without its end; it is good until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("%w: an endless line", errProtocol)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
