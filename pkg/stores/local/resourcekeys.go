package local

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// resourceRow is what is kept of a URL that renders need. Its value is a head of fixed length and data.
type resourceRow struct {
	used    int64           // when it was last stored, read or wanted, in microseconds; its key of kindUse has the same
	wanted  int64           // when by wanted it; 0: nobody waits for it
	by      crawl.MessageID // where wanted is not 0
	expires int64           // microseconds, where there is data
	digest  crawl.Digest    // of the body; zero: it has none
	data    []byte          // CBOR of the crawl.Resource; empty: it did not come yet
}

const (
	resourceHead = 3*8 + len(crawl.MessageID{}) + len(crawl.Digest{})
	useKeyLen    = 1 + 8 + jobLen + len(weburl.Key{})
)

var errResource = errors.New("a resource of renders is damaged")

// micros is a moment as rows have it: never before 1970, so that keys sort by it.
func micros(t time.Time) int64 { return max(1, t.UnixMicro()) }

func (r *resourceRow) append(dst []byte) []byte { //nolint:unparam // the form of all append methods
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.used))
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.wanted))
	dst = append(dst, r.by[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.expires))
	dst = append(dst, r.digest[:]...)
	return append(dst, r.data...)
}

// decode reads a value; data is a copy.
func (r *resourceRow) decode(v []byte) error {
	if len(v) < resourceHead {
		return errResource
	}
	r.used, r.wanted = int64(binary.BigEndian.Uint64(v)), int64(binary.BigEndian.Uint64(v[8:]))
	v = v[16:]
	v = v[copy(r.by[:], v):]
	r.expires = int64(binary.BigEndian.Uint64(v))
	v = v[8:]
	r.data = append([]byte(nil), v[copy(r.digest[:], v):]...)
	if r.used < 0 || r.wanted < 0 || r.expires < 0 {
		return errResource
	}
	return nil
}

// holds reports whether the resource is there and has not expired.
func (r *resourceRow) holds(now int64) bool { return len(r.data) > 0 && now < r.expires }

// stands reports whether a want stands. Clocks of nodes differ a little; a want far ahead is not believed.
func (r *resourceRow) stands(now int64) bool {
	again := crawl.WantAgain.Microseconds()
	return r.wanted != 0 && now-r.wanted < again && r.wanted-now < again
}

// weight is what a row takes, with its keys.
func (r *resourceRow) weight() int64 {
	return int64(urlKeyLen + useKeyLen + resourceHead + len(r.data))
}

func makeResourceKey(job jobNum, k weburl.Key) []byte {
	return append(appendJob(make([]byte, 0, urlKeyLen), kindResource, job), k[:]...)
}

// useKey is the key of kindUse for a row.
func useKey(used int64, rowKey []byte) []byte {
	return append(seqKey(kindUse, uint64(used)), rowKey[1:]...)
}

// splitUseKey is the inverse of useKey.
func splitUseKey(k []byte) (used int64, rowKey []byte, err error) {
	if len(k) != useKeyLen {
		return 0, nil, errResource
	}
	return int64(binary.BigEndian.Uint64(k[1:])), append([]byte{kindResource}, k[9:]...), nil
}

func digestKey(kind byte, d crawl.Digest) []byte { return append([]byte{kind}, d[:]...) }

// bodyRefs says how many resources have a body, and how long it is as it is stored.
type bodyRefs struct{ refs, size uint64 }

const bodyKeys = 2*(1+len(crawl.Digest{})) + 8 // octets, about, besides a body

func (b bodyRefs) weight() int64 { return int64(b.size) + int64(bodyKeys) }

func (b bodyRefs) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, b.refs), b.size)
}

func (b *bodyRefs) decode(v []byte) error {
	r := codec.Reader{B: v}
	b.refs, b.size = r.Uvarint(math.MaxInt64), r.Uvarint(math.MaxInt32)
	if r.Bad || len(r.B) > 0 {
		*b = bodyRefs{}
		return errResource
	}
	return nil
}
