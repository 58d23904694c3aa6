package local

import (
	"encoding/binary"
	"math/bits"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The kinds of the content set, after kindContent. A simhash index entry holds the whole simhash, one half first, so
// that a scan of one half sees the distance without a second look-up.
//
//	kind             key after the kind bytes                      value
//	contentDocument  job(4) URL key(24)                            contentDoc: the verdict given
//	contentOriginal  job(4) first half of the SHA-256(16)          contentOriginal
//	contentUpper     job(4) simhash(8), upper half first, id(16)   -
//	contentLower     job(4) simhash(8), lower half first, id(16)   -
//
// The id of an original is the first half of its SHA-256. To have a page taken for a copy of another, an attacker must
// find a second preimage of 128 bits.
const (
	contentDocument   = 'd'
	contentOriginals  = 'o'
	contentUpper      = 'u'
	contentLower      = 'l'
	contentPrefixSize = 2 + jobLen // kindContent, kind, job
	originalIDSize    = 16
)

type (
	docKey      [contentPrefixSize + len(weburl.Key{})]byte
	originalKey [contentPrefixSize + originalIDSize]byte
	simhashKey  [contentPrefixSize + 8 + originalIDSize]byte
)

func putContentPrefix(dst []byte, kind byte, job jobNum) {
	dst[0], dst[1] = kindContent, kind
	binary.BigEndian.PutUint32(dst[2:], uint32(job))
}

func makeDocKey(job jobNum, u weburl.Key) (k docKey) {
	putContentPrefix(k[:], contentDocument, job)
	copy(k[contentPrefixSize:], u[:])
	return k
}

func (k *docKey) job() jobNum { return jobNum(binary.BigEndian.Uint32(k[2:])) }

func makeOriginalKey(job jobNum, d crawl.Digest) (k originalKey) {
	putContentPrefix(k[:], contentOriginals, job)
	copy(k[contentPrefixSize:], d[:originalIDSize])
	return k
}

func (k *originalKey) job() jobNum { return jobNum(binary.BigEndian.Uint32(k[2:])) }

// makeSimhashKey is the entry of an original in one of the two half indexes.
func makeSimhashKey(kind byte, o originalKey, simhash uint64) (k simhashKey) {
	putContentPrefix(k[:], kind, o.job())
	binary.BigEndian.PutUint64(k[contentPrefixSize:], turned(kind, simhash))
	copy(k[contentPrefixSize+8:], o[contentPrefixSize:])
	return k
}

// turned puts the half first that the index kind is sorted by; it is its own inverse.
func turned(kind byte, simhash uint64) uint64 {
	if kind == contentLower {
		return bits.RotateLeft64(simhash, 32)
	}
	return simhash
}

// readSimhashKey reads what makeSimhashKey made.
func readSimhashKey(key []byte) (o originalKey, simhash uint64, ok bool) {
	if len(key) != len(simhashKey{}) {
		return o, 0, false
	}
	job := jobNum(binary.BigEndian.Uint32(key[2:]))
	putContentPrefix(o[:], contentOriginals, job)
	copy(o[contentPrefixSize:], key[contentPrefixSize+8:])
	return o, turned(key[1], binary.BigEndian.Uint64(key[contentPrefixSize:])), true
}

// contentDoc is the verdict on a URL.
type contentDoc struct {
	digest crawl.Digest
	seen   crawl.Seen
}

// encode returns digest(32) sameness(1) distance(1) same links(1) and the original's URL.
func (d *contentDoc) encode() []byte {
	var same byte
	if d.seen.SameLinks {
		same = 1
	}
	b := append(make([]byte, 0, 128), d.digest[:]...)
	b = append(b, byte(d.seen.Sameness), byte(d.seen.Distance), same)
	return append(b, d.seen.Of.String()...)
}

func (d *contentDoc) decode(v []byte) (err error) {
	n := len(d.digest)
	if len(v) < n+3 || v[n] > byte(crawl.NearCopy) {
		return errContentRecord
	}
	copy(d.digest[:], v)
	d.seen = crawl.Seen{Sameness: crawl.Sameness(v[n]), Distance: int(v[n+1]), SameLinks: v[n+2] == 1}
	if url := v[n+3:]; len(url) > 0 {
		d.seen.Of, err = weburl.Parse(string(url))
	}
	return err
}

// contentOriginal is what later pages are compared with.
type contentOriginal struct {
	key     originalKey
	url     weburl.URL
	linkSum uint64
	simhash uint64
	sketch  []byte // empty: not in the simhash index
}

// set writes o and its index entries.
func (o *contentOriginal) set(b *pebble.Batch) {
	_ = b.Set(o.key[:], o.encode(), nil)
	for _, k := range o.entries() {
		_ = b.Set(k[:], nil, nil)
	}
}

func (o *contentOriginal) remove(b *pebble.Batch) {
	_ = b.Delete(o.key[:], nil)
	for _, k := range o.entries() {
		_ = b.Delete(k[:], nil)
	}
}

func (o *contentOriginal) entries() []simhashKey {
	if len(o.sketch) == 0 {
		return nil
	}
	return []simhashKey{
		makeSimhashKey(contentUpper, o.key, o.simhash), makeSimhashKey(contentLower, o.key, o.simhash),
	}
}

// encode returns link sum(8) simhash(8) length of the sketch(uvarint) sketch URL.
func (o *contentOriginal) encode() []byte {
	url := o.url.String()
	b := make([]byte, 0, 16+binary.MaxVarintLen16+len(o.sketch)+len(url))
	b = binary.BigEndian.AppendUint64(b, o.linkSum)
	b = binary.BigEndian.AppendUint64(b, o.simhash)
	b = binary.AppendUvarint(b, uint64(len(o.sketch)))
	return append(append(b, o.sketch...), url...)
}

func (o *contentOriginal) decode(v []byte) (err error) {
	if len(v) < 16 {
		return errContentRecord
	}
	o.linkSum, o.simhash = binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
	size, n := binary.Uvarint(v[16:])
	rest := v[16+max(n, 0):]
	if n <= 0 || size > uint64(len(rest)) {
		return errContentRecord
	}
	o.sketch = append([]byte(nil), rest[:size]...)
	o.url, err = weburl.Parse(string(rest[size:]))
	return err
}
