package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// A task on disk: version(1), uvarint bits that say which fields follow, job, URL, numbers, NotBefore, texts, referrer.
// Strings have their length before them as uvarint, numbers are varints, a time is microseconds since 1970. CBOR takes
// five to ten times as long (BenchmarkTaskCodec), and a URL passes two queues.
const taskVersion = 1

// The bits of the fields. They are on disk: append only.
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
	taskBits = iota
)

var errTask = errors.New("the task is damaged")

func encodeTasks(items []crawl.Queued) ([][]byte, error) {
	values := make([][]byte, len(items))
	buf := make([]byte, 0, 160*len(items))
	for i := range items {
		it := &items[i]
		if it.Queue == "" || strings.IndexByte(it.Queue, 0) >= 0 {
			return nil, fmt.Errorf("push %s to queue %q: a name has at least one character and no NUL", it.Task.URL, it.Queue)
		}
		start := len(buf)
		buf = appendTask(buf, &it.Task)
		values[i] = buf[start:len(buf):len(buf)]
	}
	return values, nil
}

// taskFields are the numbers and texts of a task, in the order of numberBits and textBits.
func taskFields(t *crawl.Task) (numbers [7]int64, texts [3]string) {
	return [...]int64{int64(t.Kind), int64(t.Priority), int64(t.Depth), int64(t.Redirects), int64(t.Attempt), int64(t.Visit),
		t.Lease}, [...]string{t.For, t.ETag, t.LastModified}
}

var (
	numberBits = [7]uint64{hasKind, hasPriority, hasDepth, hasRedirects, hasAttempt, hasVisit, hasLease}
	textBits   = [3]uint64{hasFor, hasETag, hasLastModified}
)

func taskMask(t *crawl.Task, numbers [7]int64, texts [3]string) (mask uint64) {
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
	set(hasReferrer, !t.Referrer.IsZero())
	set(hasNotBefore, !t.NotBefore.IsZero())
	set(isRepeat, t.Repeat)
	set(isSeed, t.Seed)
	return mask
}

func appendTask(b []byte, t *crawl.Task) []byte {
	numbers, texts := taskFields(t)
	mask := taskMask(t, numbers, texts)
	b = binary.AppendUvarint(append(b, taskVersion), mask)
	b = appendText(appendText(b, string(t.Job)), t.URL.String())
	for _, n := range numbers {
		if n != 0 {
			b = binary.AppendVarint(b, n)
		}
	}
	if mask&hasNotBefore != 0 {
		b = binary.AppendVarint(b, t.NotBefore.UnixMicro())
	}
	for _, s := range texts {
		if s != "" {
			b = appendText(b, s)
		}
	}
	if mask&hasReferrer != 0 {
		b = appendText(b, t.Referrer.String())
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func decodeTask(b []byte, t *crawl.Task) error {
	*t = crawl.Task{}
	if len(b) == 0 || b[0] != taskVersion {
		return fmt.Errorf("%w: it has no version that this program knows", errTask)
	}
	r := uvarints{b: b[1:]}
	mask := r.next(1<<taskBits - 1)
	t.Job = crawl.JobID(r.text())
	url := r.text()
	var numbers [7]int64
	for i, bit := range numberBits {
		if mask&bit != 0 {
			numbers[i] = r.varint()
		}
	}
	if mask&hasNotBefore != 0 {
		t.NotBefore = time.UnixMicro(r.varint()).UTC()
	}
	for i, to := range [3]*string{&t.For, &t.ETag, &t.LastModified} {
		if mask&textBits[i] != 0 {
			*to = r.text()
		}
	}
	var referrer string
	if mask&hasReferrer != 0 {
		referrer = r.text()
	}
	if r.bad || len(r.b) > 0 || numbers[0] < 0 || numbers[0] > math.MaxUint8 {
		return errTask
	}
	t.Kind, t.Priority, t.Depth = crawl.Kind(numbers[0]), int(numbers[1]), int(numbers[2])
	t.Redirects, t.Attempt, t.Visit, t.Lease = int(numbers[3]), int(numbers[4]), int(numbers[5]), numbers[6]
	t.Repeat, t.Seed = mask&isRepeat != 0, mask&isSeed != 0
	return parseTaskURLs(t, url, referrer)
}

func parseTaskURLs(t *crawl.Task, url, referrer string) (err error) {
	if url != "" {
		if t.URL, err = weburl.Parse(url); err != nil {
			return fmt.Errorf("%w: %w", errTask, err)
		}
	}
	if referrer != "" {
		if t.Referrer, err = weburl.Parse(referrer); err != nil {
			return fmt.Errorf("%w: %w", errTask, err)
		}
	}
	return nil
}
