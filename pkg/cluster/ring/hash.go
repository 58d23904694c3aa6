package ring

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Hash says how a ring places its keys. It is a property of the ring, fixed at its creation.
type Hash uint8

// The hashes. Their numbers are in stored tables.
const (
	// XXH3 is XXH3 with 64 bits and the ring's seed. Page authors cannot know the seed, so they cannot craft hosts that
	// all belong to one node. But no range of it is a range of keys: a node that gets a virtual node has to look at
	// every open URL of the ledger. It was the hash of all rings before there was a choice.
	XXH3 Hash = iota
	// SHA256 is the first 64 bits of SHA-256, without seed. Where the partition is by host they are those that keys of
	// URLs begin with (weburl.Key), so that virtual nodes are ranges of keys: see Table.KeyRanges. It is known to all:
	// somebody with very many host names can choose them so that one node gets all of them, which makes the ring
	// uneven and breaks nothing.
	SHA256
)

var hashNames = []string{"xxh3", "sha256"}

// String returns the hash's name.
func (h Hash) String() string {
	if h.validate() != nil {
		return fmt.Sprintf("hash %d", uint8(h))
	}
	return hashNames[h]
}

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHash(string(text))
	return err
}

// ParseHash reads xxh3 or sha256.
func ParseHash(s string) (Hash, error) {
	i := slices.Index(hashNames, s)
	if i < 0 {
		return 0, fmt.Errorf("hash %q: want %s", s, strings.Join(hashNames, ", "))
	}
	return Hash(i), nil
}

func (h Hash) validate() error {
	if int(h) >= len(hashNames) {
		return fmt.Errorf("hash %d: this build knows %d of them", uint8(h), len(hashNames))
	}
	return nil
}

// of returns the place of a key. It allocates nothing for keys of up to 256 octets.
func (h Hash) of(key string, seed uint64) uint64 {
	if h == XXH3 {
		return xxh3.HashStringSeed(key, seed)
	}
	var buf [256]byte
	sum := sha256.Sum256(append(buf[:0], key...))
	return binary.BigEndian.Uint64(sum[:8])
}

// Hash returns the hash of new rings of a partition: SHA256 where it makes virtual nodes ranges of keys, else XXH3.
func (p Partition) Hash() Hash {
	if p == ByHost {
		return SHA256
	}
	return XXH3
}
