package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// entry is what the store knows of a URL. It serves the URL set and the ledger alike.
//
// On disk: state in the lower two bits, kind in the four above them, the highest bit where an epoch follows and the one
// below it where the number of a visit does (1), by(8), uvarint ms since 1970; in the states done and excluded also
// uvarint epoch unless it is the first, uvarint visit unless it is 0, verdict(1), uvarint status, uvarint attempts,
// reason code(1) and, for code 255, the reason's text to the end. An open URL takes 15 bytes, a done one about 20.
type entry struct {
	state    crawl.State
	kind     crawl.Kind // of the outcome
	by       claimant
	at       int64 // ms since 1970
	verdict  crawl.Verdict
	status   uint16
	attempts uint32
	reason   string
	visit    uint32 // that the outcome is of
	epoch    uint32 // of the job's revision by which it came about; 0 is the first
}

// claimant is the first half of the id of the message that made the claim. Ids are hashes: the chance that two messages
// that claim the same URL share a half is 2^-64.
type claimant [8]byte

func claimantOf(id crawl.MessageID) claimant { return claimant(id[:8]) }

var errEntry = errors.New("the entry is damaged")

// reasonCodes are reasons that take one byte. Codes are on disk: append only.
var reasonCodes = [...]string{"", crawl.ReasonScope, crawl.ReasonExclude, crawl.ReasonInclude, crawl.ReasonBlacklist,
	crawl.ReasonDepth, crawl.ReasonLevelBudget, crawl.ReasonHostBudget, crawl.ReasonVariantBudget, crawl.ReasonPageBudget,
	crawl.ReasonNoFollow, crawl.ReasonScheme, crawl.ReasonRobots, crawl.ReasonRobotsDown, crawl.ReasonCrawlDelay,
	crawl.ReasonRedirects, crawl.ReasonRedirectTarget, crawl.ReasonMediaType, crawl.ReasonPrivateAddress, crawl.ReasonDNS,
	crawl.ReasonNoSuchHost, crawl.ReasonConnect, crawl.ReasonTLS, crawl.ReasonTimeout, crawl.ReasonTooSlow,
	crawl.ReasonBroken, crawl.ReasonHeaderTooLarge, crawl.ReasonEncoding, crawl.ReasonStatus, crawl.ReasonInterrupted}

const (
	reasonText = 255
	maxReason  = 48 // bytes of a reason that has no code; a longer one is cut
	maxKind    = 15 // kinds share a byte with the state
	hasEpoch   = 0x80
	hasVisit   = 0x40
)

func (e *entry) isPage() bool {
	return e.state == crawl.StateDone && crawl.CountsAsPage(e.kind, e.verdict, int(e.status))
}

// bringsPage reports whether a record of the page must be there, or a reason for having none.
func (e *entry) bringsPage() bool {
	return e.state == crawl.StateDone && crawl.BringsPage(e.kind, e.verdict, int(e.status))
}

// isSame reports whether a later visit was told that the page is what it was before (304), and nothing before is known.
func (e *entry) isSame() bool {
	return e.state == crawl.StateDone && e.kind == crawl.KindPage && e.verdict == crawl.VerdictDone && e.status == 304 &&
		e.visit > 0
}

func (e *entry) append(dst []byte) []byte {
	ended := e.state == crawl.StateDone || e.state == crawl.StateExcluded
	head := byte(e.state) | byte(e.kind)<<2
	if ended && e.epoch > 1 {
		head |= hasEpoch
	}
	if ended && e.visit > 0 {
		head |= hasVisit
	}
	dst = append(append(dst, head), e.by[:]...)
	dst = binary.AppendUvarint(dst, uint64(e.at))
	if !ended {
		return dst
	}
	if e.epoch > 1 {
		dst = binary.AppendUvarint(dst, uint64(e.epoch))
	}
	if e.visit > 0 {
		dst = binary.AppendUvarint(dst, uint64(e.visit))
	}
	dst = append(dst, byte(e.verdict))
	dst = binary.AppendUvarint(dst, uint64(e.status))
	dst = binary.AppendUvarint(dst, uint64(e.attempts))
	for code, r := range reasonCodes {
		if r == e.reason {
			return append(dst, byte(code))
		}
	}
	return append(append(dst, reasonText), e.reason...)
}

func (e *entry) decode(b []byte) error {
	*e = entry{}
	if len(b) < 10 || b[0]&3 == 0 || b[0]&3 == byte(crawl.StateOpen) && b[0]&(hasEpoch|hasVisit) != 0 {
		return errEntry
	}
	e.state, e.kind, e.by = crawl.State(b[0]&3), crawl.Kind(b[0]&^(hasEpoch|hasVisit)>>2), claimant(b[1:9])
	r := codec.Reader{B: b[9:]}
	e.at = int64(r.Uvarint(math.MaxInt64))
	if e.state != crawl.StateOpen {
		if b[0]&hasEpoch != 0 {
			e.epoch = epoch(uint32(r.Uvarint(math.MaxUint32)))
		}
		if b[0]&hasVisit != 0 {
			e.visit = uint32(r.Uvarint(math.MaxUint32))
		}
		e.verdict = crawl.Verdict(r.Byte())
		e.status = uint16(r.Uvarint(math.MaxUint16))
		e.attempts = uint32(r.Uvarint(math.MaxUint32))
		e.reason = decodeReason(&r)
	}
	if !r.Done() {
		return errEntry
	}
	return nil
}

func decodeReason(r *codec.Reader) string {
	code := r.Byte()
	switch {
	case int(code) < len(reasonCodes):
		return reasonCodes[code]
	case code == reasonText:
		text := string(r.B)
		r.B = nil
		return text
	}
	r.Bad = true
	return ""
}

func (e *entry) public(k weburl.Key) crawl.Entry {
	out := crawl.Entry{Key: k, State: e.state, Kind: e.kind}
	if e.state != crawl.StateUnknown {
		out.Verdict, out.Status, out.Reason, out.Attempts = e.verdict, int(e.status), e.reason, int(e.attempts)
		out.At, out.Epoch, out.Visit = time.UnixMilli(e.at).UTC(), e.epoch, e.visit
	}
	return out
}

// finished turns a public entry into a record of a final outcome.
func finished(in crawl.Entry, by claimant, now time.Time) (entry, error) {
	if !in.Verdict.Final() || in.Status < 0 || in.Status > math.MaxUint16 || in.Attempts < 0 ||
		in.Attempts > math.MaxInt32 || in.Kind > maxKind {
		return entry{}, fmt.Errorf("finish URL %s: verdict %v, kind %d, status %d, attempts %d are no final outcome", in.Key,
			in.Verdict, in.Kind, in.Status, in.Attempts)
	}
	if !in.At.IsZero() {
		now = in.At
	}
	return entry{state: crawl.StateDone, kind: in.Kind, by: by, at: now.UnixMilli(), verdict: in.Verdict,
		status: uint16(in.Status), attempts: uint32(in.Attempts), reason: in.Reason[:min(len(in.Reason), maxReason)],
		epoch: epoch(in.Epoch), visit: in.Visit}, nil
}

// epoch is an epoch as entries keep it: 0 is the first.
func epoch(e uint32) uint32 {
	if e == 1 {
		return 0
	}
	return e
}
