package local

import (
	"encoding/binary"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The layout of the key space. The first byte of a key says what it keeps; numbers are big endian, so that keys sort by
// them; job is the number that a job's name was given (kindJob). Kinds whose keys have it next have their highest bit
// set, so that all that is kept of a job is told from the rest, and from the keys of former formats (rekey.go).
//
//	kind         key after the kind byte            value
//	kindBudget   job(4) name                        uvarint: what was spent
//	kindTally    job(4) counter                     varint: the count (tally.go)
//	kindDead     message id(16)                     CBOR dead letter
//	kindContent… see contentset.go
//	kindHost     host key                           CBOR crawl.Host
//	kindJob      name                               number(4)
//	kindJobNext  -                                  uvarint: the number of the next job; none is given twice
//	kindDiscard  job(4)                             what is kept(1) of a discarded job, and its name (discardjob.go)
//	kindJar      job(4) site                        version(8), CBOR crawl.Jar (jars.go)
//	kindJournal  sequence(8)                        CBOR message
//	kindMeta     name                               the caller's bytes
//	kindHoles    queue name                         uvarint: settled tasks behind its oldest one (queues.go)
//	kindPage     job(4) URL key(24)                 place in pages.jsonl, with a checksum (pageindex.go)
//	kindPageEnd  job(4)                             uvarint: committed length of pages.jsonl
//	kindPageMove job(4)                             a removal of records that is under way (forget.go)
//	kindPageMark job(4) offset(8)                   a line of pages.jsonl to be marked as replaced (replace.go)
//	kindPageTail job(4)                             uvarint offset, length: lines being appended (replace.go)
//	kindQueue    queue name, 0, sequence(8)         a task (taskcodec.go)
//	kindRedirect job(4) URL key(24)                 the URL that it redirects to
//	kindRobots   origin                             CBOR crawl.Robots
//	kindURL      job(4) URL key(24)                 entry (entry.go)
//	kindRevision job(4) epoch(4)                    JSON of a job's revision (revisions.go)
//	kindSweep    job(4)                             JSON crawl.Sweep
//	kindLeftOut  job(4) URL key(24)                 why a URL was left out, and its task (leftout.go)
//	kindUnkept   job(4) URL key(24)                 the reason why a page that was fetched has no record
//	kindVisited  job(4) URL key(24)                 the validators of a page that was answered (visited.go)
//	kindRevisit  job(4) URL key(24)                 a revisit.State (revisits.go)
//	kindHabits   job(4) host(8)                     revisit.Habits: what was learned of a host's pages (habits.go)
//	kindDue      job(4) bucket(4) URL key(24)       the revisit.State and URL of a page that is due then
//	kindSpent    job(4)                             varints: bytes, time, counted until (spending.go)
//	kindResource job(4) URL key(24)                 a resource, or who wants it (resourcekeys.go)
//	kindUse      last use(8) job(4) URL key(24)     -: the resources by use
//	kindBodyRefs SHA-256(32)                        uvarints: resources with this body, and its length as it is stored
//	kindBody     SHA-256(32)                        the body, compressed
//	kindHeld     -                                  uvarint: octets of all resources and bodies
//	kindTemplate job(4) host 0 template(8)          CBOR crawl.RenderTemplate
//	kindTrial job(4) host                           CBOR crawl.HostTrial
const (
	kindBudget   = perJob | 'b'
	kindTally    = perJob | 'c'
	kindDead     = 'd'
	kindContent  = perJob | 'f' // prefix of the content set's kinds: 'f', kind, …
	kindHost     = 'h'
	kindJob      = 'j'
	kindJobNext  = 'J'
	kindDiscard  = perJob | 'D'
	kindJar      = perJob | 'k'
	kindJournal  = 'l'
	kindMeta     = 'm'
	kindHoles    = 'o'
	kindPage     = perJob | 'p'
	kindPageEnd  = perJob | 'P'
	kindPageMove = perJob | 'M'
	kindPageMark = perJob | 'W'
	kindPageTail = perJob | 'T'
	kindQueue    = 'q'
	kindRedirect = perJob | 'R'
	kindRobots   = 'r'
	kindURL      = perJob | 'u'
	kindRevision = perJob | 'v'
	kindSweep    = perJob | 'V'
	kindLeftOut  = perJob | 'e'
	kindUnkept   = perJob | 'x'
	kindVisited  = perJob | 'w'
	kindRevisit  = perJob | 'a'
	kindDue      = perJob | 'A'
	kindHabits   = perJob | 'z'
	kindSpent    = perJob | 's'
	kindResource = perJob | 'y'
	kindUse      = 'a'
	kindBodyRefs = 'B'
	kindBody     = 'Y'
	kindHeld     = 'H'
	kindTemplate = perJob | 't'
	kindTrial    = perJob | 'i'
)

// perJob marks the kinds whose keys begin with a job's number.
const perJob = 0x80

// jobNum stands for a job's name in keys.
type jobNum uint32

const (
	jobLen    = 4
	jobEnd    = 1 + jobLen // of the number in a key
	urlKeyLen = jobEnd + len(weburl.Key{})
)

// urlKey is the key of a URL's entry.
type urlKey [urlKeyLen]byte

func makeURLKey(job jobNum, k weburl.Key) (out urlKey) {
	out[0] = kindURL
	binary.BigEndian.PutUint32(out[1:], uint32(job))
	copy(out[jobEnd:], k[:])
	return out
}

func (k *urlKey) job() jobNum { return jobNum(binary.BigEndian.Uint32(k[1:])) }

// host is the part that all URLs of a host share.
func (k *urlKey) host() uint64 { return binary.BigEndian.Uint64(k[jobEnd:]) }

func (k *urlKey) key() weburl.Key { return weburl.Key(k[jobEnd:]) }

func appendJob(dst []byte, kind byte, job jobNum) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kind), uint32(job))
}

// jobOfKey is the number that a key of a kind of jobs begins with.
func jobOfKey(key []byte) jobNum { return jobNum(binary.BigEndian.Uint32(key[1:jobEnd])) }

func stringKey(kind byte, name string) []byte {
	return append(append(make([]byte, 0, 1+len(name)), kind), name...)
}

func seqKey(kind byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, seq)
}

func makePageKey(job jobNum, k weburl.Key) []byte {
	return append(appendJob(make([]byte, 0, urlKeyLen), kindPage, job), k[:]...)
}

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
