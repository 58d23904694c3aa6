package local

import (
	"encoding/binary"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The layout of the key space. The first byte of a key says what it keeps; numbers are big endian, so that keys sort by
// them; job is the number that a job's name was given (kindJob).
//
//	kind         key after the kind byte            value
//	kindBudget   job(2) name                        uvarint: what was spent
//	kindTally    job(2) counter                     varint: the count (tally.go)
//	kindDead     message id(16)                     CBOR dead letter
//	kindContent… see contentset.go
//	kindHost     host key                           CBOR crawl.Host
//	kindJob      name                               number(2)
//	kindJar      job(2) site                        version(8), CBOR crawl.Jar (jars.go)
//	kindJournal  sequence(8)                        CBOR message
//	kindMeta     name                               the caller's bytes
//	kindHoles    queue name                         uvarint: settled tasks behind its oldest one (queues.go)
//	kindPage     URL key(24)                        place in pages.jsonl, with a checksum (pageindex.go)
//	kindPageEnd  -                                  uvarint: committed length of pages.jsonl
//	kindPageMove -                                  a removal of records that is under way (forget.go)
//	kindPageMark offset(8)                          a line of pages.jsonl to be marked as replaced (replace.go)
//	kindPageTail -                                  uvarint offset, length: lines being appended (replace.go)
//	kindQueue    queue name, 0, sequence(8)         a task (taskcodec.go)
//	kindRedirect job(2) URL key(24)                 the URL that it redirects to
//	kindRobots   origin                             CBOR crawl.Robots
//	kindURL      job(2) URL key(24)                 entry (entry.go)
//	kindRevision job(2) epoch(4)                    JSON of a job's revision (revisions.go)
//	kindSweep    job(2)                             JSON crawl.Sweep
//	kindLeftOut  job(2) URL key(24)                 why a URL was left out, and its task (leftout.go)
//	kindUnkept   job(2) URL key(24)                 the reason why a page that was fetched has no record
//	kindVisited  job(2) URL key(24)                 the validators of a page that was answered (visited.go)
//	kindSpent    job(2)                             varints: bytes, time, counted until (spending.go)
const (
	kindBudget   = 'b'
	kindTally    = 'c'
	kindDead     = 'd'
	kindContent  = 'f' // prefix of the content set's kinds: 'f', kind, …
	kindHost     = 'h'
	kindJob      = 'j'
	kindJar      = 'k'
	kindJournal  = 'l'
	kindMeta     = 'm'
	kindHoles    = 'o'
	kindPage     = 'p'
	kindPageEnd  = 'P'
	kindPageMove = 'M'
	kindPageMark = 'W'
	kindPageTail = 'T'
	kindQueue    = 'q'
	kindRedirect = 'R'
	kindRobots   = 'r'
	kindURL      = 'u'
	kindRevision = 'v'
	kindSweep    = 'V'
	kindLeftOut  = 'e'
	kindUnkept   = 'x'
	kindVisited  = 'w'
	kindSpent    = 's'
)

// jobNum stands for a job's name in keys.
type jobNum uint16

const urlKeyLen = 1 + 2 + len(weburl.Key{})

// urlKey is the key of a URL's entry.
type urlKey [urlKeyLen]byte

func makeURLKey(job jobNum, k weburl.Key) (out urlKey) {
	out[0] = kindURL
	binary.BigEndian.PutUint16(out[1:], uint16(job))
	copy(out[3:], k[:])
	return out
}

func (k *urlKey) job() jobNum { return jobNum(binary.BigEndian.Uint16(k[1:])) }

func (k *urlKey) key() weburl.Key { return weburl.Key(k[3:]) }

func appendJob(dst []byte, kind byte, job jobNum) []byte {
	return binary.BigEndian.AppendUint16(append(dst, kind), uint16(job))
}

func stringKey(kind byte, name string) []byte {
	return append(append(make([]byte, 0, 1+len(name)), kind), name...)
}

func seqKey(kind byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, seq)
}

func pageKey(k weburl.Key) []byte { return append([]byte{kindPage}, k[:]...) }

func deadKey(id crawl.MessageID) []byte { return append([]byte{kindDead}, id[:]...) }

// after is the smallest key that sorts behind all keys that start with prefix. No kind is 0xff.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}
