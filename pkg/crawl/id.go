package crawl

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// JobID names a job: 1 to 64 characters of [a-z0-9-].
type JobID string

// MessageID identifies a message across deliveries: the same cause has the same id, however often it happens.
type MessageID [16]byte

// VisitID is the id of the message that leases u for the visit-th time, counted from 0. All attempts of one visit share
// it: the claims of an attempt that was cut short are recognised when the next attempt repeats them.
func VisitID(job JobID, kind Kind, u weburl.Key, visit int) MessageID {
	var tail [9]byte
	tail[0] = byte(kind)
	binary.BigEndian.PutUint64(tail[1:], uint64(visit))
	h := xxh3.New()
	_, _ = h.WriteString(string(job))
	_, _ = h.Write(u[:])
	_, _ = h.Write(tail[:])
	return MessageID(h.Sum128().Bytes())
}

// Child is the id of the index-th message that the named stage publishes while handling id.
func (id MessageID) Child(stage string, index int) MessageID {
	var buf [64]byte
	b := append(buf[:0], id[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(index))
	b = append(b, stage...)
	return MessageID(xxh3.Hash128(b).Bytes())
}

// IsZero reports whether id is unset.
func (id MessageID) IsZero() bool { return id == MessageID{} }

// String returns id in hexadecimal.
func (id MessageID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText returns id in hexadecimal.
func (id MessageID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *MessageID) UnmarshalText(text []byte) error {
	if len(text) != 2*len(id) {
		return fmt.Errorf("message id %q: want %d hexadecimal digits", text, 2*len(id))
	}
	_, err := hex.Decode(id[:], text)
	return err
}
