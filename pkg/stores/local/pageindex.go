package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// place is where a record is in pages.jsonl, with a checksum of its line.
//
// On disk: uvarint offset, uvarint length, and the CRC-32C of the line with its newline (4). Records written by the
// first release have no checksum.
type place struct {
	at, length int64
	sum        uint32
	summed     bool
}

// pageAt is the place of a URL's record.
type pageAt struct {
	key weburl.Key
	place
}

// maxPlace is the most that a place takes on disk.
const maxPlace = 2*binary.MaxVarintLen64 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is that of a line. A processor computes CRC-32C at several bytes a cycle.
func checksum(line []byte) uint32 { return crc32.Checksum(line, castagnoli) }

func (p *place) end() int64 { return p.at + p.length }

func (p *place) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.at)), uint64(p.length))
	if p.summed {
		dst = binary.BigEndian.AppendUint32(dst, p.sum)
	}
	return dst
}

func (p *place) decode(v []byte) error {
	r := codec.Reader{B: v}
	*p = place{at: int64(r.Uvarint(math.MaxInt64 / 2)), length: int64(r.Uvarint(math.MaxInt64 / 2))}
	switch {
	case r.Bad:
	case len(r.B) == 4:
		p.sum, p.summed = binary.BigEndian.Uint32(r.B), true
		return nil
	case len(r.B) == 0:
		return nil
	}
	return errors.New("the index entry is damaged")
}

// decodePage reads an entry of the index.
func decodePage(k, v []byte) (r pageAt, err error) {
	if len(k) != urlKeyLen {
		return r, errPageIndex(k)
	}
	r.key = weburl.Key(k[jobEnd:])
	if r.decode(v) != nil {
		return r, errPageIndex(k)
	}
	return r, nil
}

func errPageIndex(k []byte) error { return fmt.Errorf("index entry %x of pages.jsonl is damaged", k) }
