package crawl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Tasks, links and exclusions are most of what is sent and queued. They have a compact form of their own, carried in
// CBOR as a byte string: encoding them with reflection takes five to ten times as long (BenchmarkEvents).
//
// A task is: version (1), uvarint mask of the fields that follow, job, URL, numbers as varints, NotBefore as a varint
// of nanoseconds since 1970, texts, referrer. A text is preceded by its length as uvarint. In a list, a task omits the
// job and the referrer that it shares with the task before it, and the common start of the URL.
//
// Extensions, if any, come last as a byte string. Add new fields of a task as extensions, never as new mask bits: the
// version before then reads the task and passes the field on.
const taskVersion = 1

// The bits of the fields. They are on disk, and complete: see above.
const (
	hasKind = 1 << iota
	hasPriority
	hasDepth
	hasRedirects
	hasReferrer
	hasAttempt
	hasNotBefore
	hasVisit
	hasFor
	isRepeat
	isSeed
	hasETag
	hasLastModified
	hasLease
	sameJob
	sameReferrer
	isTracked
	hasExtensions
	taskBits = iota
)

var errTask = errors.New("the task is damaged")

// taskFields are the numbers and texts of a task, in the order of numberBits and textBits.
func taskFields(t *Task) (numbers [7]int64, texts [3]string) {
	return [...]int64{int64(t.Kind), int64(t.Priority), int64(t.Depth), int64(t.Redirects), int64(t.Attempt),
		int64(t.Visit), t.Lease}, [...]string{t.For, t.ETag, t.LastModified}
}

var (
	numberBits = [7]uint64{hasKind, hasPriority, hasDepth, hasRedirects, hasAttempt, hasVisit, hasLease}
	textBits   = [3]uint64{hasFor, hasETag, hasLastModified}
)

// taskMask says which fields of t follow. before is the task before it in a list; nil: none.
func taskMask(t, before *Task, numbers [7]int64, texts [3]string) (mask uint64) {
	set := func(bit uint64, present bool) {
		if present {
			mask |= bit
		}
	}
	for i, n := range numbers {
		set(numberBits[i], n != 0)
	}
	for i, s := range texts {
		set(textBits[i], s != "")
	}
	set(sameJob, before != nil && before.Job == t.Job)
	if set(sameReferrer, before != nil && before.Referrer == t.Referrer); mask&sameReferrer == 0 {
		set(hasReferrer, !t.Referrer.IsZero())
	}
	set(hasNotBefore, !t.NotBefore.IsZero())
	set(isRepeat, t.Repeat)
	set(isSeed, t.Seed)
	set(isTracked, t.Tracked)
	set(hasExtensions, t.extended())
	return mask
}

// AppendTask appends the compact form of t.
func AppendTask(b []byte, t *Task) []byte { return appendTask(append(b, taskVersion), t, nil) }

func appendTask(b []byte, t, before *Task) []byte {
	numbers, texts := taskFields(t)
	mask := taskMask(t, before, numbers, texts)
	b = binary.AppendUvarint(b, mask)
	if mask&sameJob == 0 {
		b = codec.AppendText(b, string(t.Job))
	}
	if before == nil {
		b = codec.AppendText(b, t.URL.String())
	} else {
		b = appendURL(b, t.URL, before.URL)
	}
	for _, n := range numbers {
		if n != 0 {
			b = binary.AppendVarint(b, n)
		}
	}
	if mask&hasNotBefore != 0 {
		b = binary.AppendVarint(b, t.NotBefore.UnixNano())
	}
	for _, s := range texts {
		if s != "" {
			b = codec.AppendText(b, s)
		}
	}
	if mask&hasReferrer != 0 {
		b = codec.AppendText(b, t.Referrer.String())
	}
	if mask&hasExtensions != 0 {
		b = codec.AppendBytes(b, appendTaskExtensions(nil, t))
	}
	return b
}

// DecodeTask reads what AppendTask appended, and nothing else, into t.
func DecodeTask(b []byte, t *Task) error {
	r := codec.Reader{B: b}
	if r.Byte() != taskVersion {
		return fmt.Errorf("%w: it has no version that this program knows", errTask)
	}
	if err := readTask(&r, t, nil); err != nil {
		return err
	}
	if !r.Done() {
		return errTask
	}
	return nil
}

func readTask(r *codec.Reader, t, before *Task) error {
	mask := r.Uvarint(1<<taskBits - 1)
	if before == nil && mask&(sameJob|sameReferrer) != 0 {
		return errTask
	}
	*t = Task{Repeat: mask&isRepeat != 0, Seed: mask&isSeed != 0, Tracked: mask&isTracked != 0}
	if err := readTaskNames(r, t, before, mask); err != nil {
		return err
	}
	var numbers [7]int64
	for i, bit := range numberBits {
		if mask&bit != 0 {
			numbers[i] = r.Varint()
		}
	}
	if mask&hasNotBefore != 0 {
		t.NotBefore = time.Unix(0, r.Varint()).UTC()
	}
	for i, to := range [3]*string{&t.For, &t.ETag, &t.LastModified} {
		if mask&textBits[i] != 0 {
			*to = r.Text()
		}
	}
	var err error
	switch {
	case mask&sameReferrer != 0:
		t.Referrer = before.Referrer
	case mask&hasReferrer != 0:
		t.Referrer, err = parseURL(r.Bytes())
	}
	if mask&hasExtensions != 0 {
		t.more = readExtensions(r, epochInto(&t.Epoch), markInto(extFeed, &t.Feed), markInto(extPaid, &t.Paid),
			numberInto(extFinds, &t.Finds), numberInto(extHostLinks, &t.HostLinks),
			numberInto(extTopic, (*int)(&t.Relevance)), numberInto(extPromise, (*int)(&t.Promise)),
			extension{extText, func(v *codec.Reader) { t.Text, v.B = string(v.B), nil }}, sumInto(&t.Sum),
			markInto(extRestore, &t.Restore), markInto(extCopy, &t.Copy), fieldsInto(&t.Fields), toldInto(&t.Told),
			extension{extRepeated, func(v *codec.Reader) { t.Repeated, v.B = string(v.B), nil }}, markInto(extAsked, &t.Asked))
	}
	if r.Bad || err != nil || numbers[0] < 0 || numbers[0] > math.MaxUint8 {
		return errors.Join(errTask, err)
	}
	t.Kind, t.Priority, t.Depth = Kind(numbers[0]), int(numbers[1]), int(numbers[2])
	t.Redirects, t.Attempt, t.Visit, t.Lease = int(numbers[3]), int(numbers[4]), int(numbers[5]), numbers[6]
	return nil
}

func readTaskNames(r *codec.Reader, t, before *Task, mask uint64) (err error) {
	if t.Job = JobID(""); mask&sameJob != 0 {
		t.Job = before.Job
	} else {
		t.Job = JobID(r.Text())
	}
	if before == nil {
		t.URL, err = parseURL(r.Bytes())
	} else {
		t.URL, err = readURL(r, before.URL)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errTask, err)
	}
	return nil
}

// parseURL parses a URL's text; of none the zero URL.
func parseURL(text []byte) (weburl.URL, error) {
	if len(text) == 0 {
		return weburl.URL{}, nil
	}
	return weburl.ParseStored(text)
}

// appendURL appends u as the number of bytes that it shares with the start of before, and the rest.
func appendURL(b []byte, u, before weburl.URL) []byte {
	s, p := u.String(), before.String()
	n := 0
	for n < len(s) && n < len(p) && s[n] == p[n] {
		n++
	}
	return codec.AppendText(binary.AppendUvarint(b, uint64(n)), s[n:])
}

func readURL(r *codec.Reader, before weburl.URL) (weburl.URL, error) {
	p := before.String()
	n := r.Uvarint(uint64(len(p)))
	rest := r.Bytes()
	if r.Bad {
		return weburl.URL{}, errors.New("a URL is missing")
	}
	if n == 0 {
		return parseURL(rest)
	}
	return before.Splice(int(n), rest)
}
