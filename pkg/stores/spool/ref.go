package spool

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ref is what a crawl.BodyRef says.
type ref struct {
	id    [16]byte // random: the file's name
	spool uint32   // which directory
	boot  uint32   // since which start of the machine
	made  uint32   // seconds since 1970
	size  uint64
	sum   uint64 // xxh3 of the body
}

// refLen is the length of a reference: its fields in this order, big-endian, in hexadecimal after a byte for the
// version.
const (
	refVersion = 1
	refLen     = 2 * (1 + 16 + 4 + 4 + 4 + 8 + 8)
)

func newID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return id
}

// shared is the reference of a user to the same body. Its file is another name of the body's.
func (r *ref) shared(user string) ref {
	mine := *r
	h := xxh3.HashString128(string(r.id[:]) + user)
	mine.id = h.Bytes()
	return mine
}

func (r *ref) encode() crawl.BodyRef {
	b := append(make([]byte, 0, refLen/2), refVersion)
	b = append(b, r.id[:]...)
	b = binary.BigEndian.AppendUint32(b, r.spool)
	b = binary.BigEndian.AppendUint32(b, r.boot)
	b = binary.BigEndian.AppendUint32(b, r.made)
	b = binary.BigEndian.AppendUint64(b, r.size)
	b = binary.BigEndian.AppendUint64(b, r.sum)
	return crawl.BodyRef(hex.EncodeToString(b))
}

// decodeRef reads what encode made; ok is false for anything else.
func decodeRef(s crawl.BodyRef) (r ref, ok bool) {
	var b [refLen / 2]byte
	if len(s) != refLen {
		return r, false
	}
	if _, err := hex.Decode(b[:], []byte(s)); err != nil || b[0] != refVersion {
		return r, false
	}
	copy(r.id[:], b[1:17])
	r.spool = binary.BigEndian.Uint32(b[17:])
	r.boot = binary.BigEndian.Uint32(b[21:])
	r.made = binary.BigEndian.Uint32(b[25:])
	r.size = binary.BigEndian.Uint64(b[29:])
	r.sum = binary.BigEndian.Uint64(b[37:])
	return r, true
}

// time is when the body was put, to the second.
func (r *ref) time() time.Time { return time.Unix(int64(r.made), 0) }
