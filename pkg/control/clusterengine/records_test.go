package clusterengine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memoryLines is a store of records that counts how often it is asked for each.
type memoryLines struct {
	lines map[weburl.Key]string
	asked map[weburl.Key]int
	took  func() // each time it is asked, unless nil
}

func (m *memoryLines) PageLines(_ context.Context, keys []weburl.Key, each func(weburl.Key, []byte) error) error {
	if m.took != nil {
		m.took()
	}
	for _, k := range keys {
		m.asked[k]++
		if line, ok := m.lines[k]; ok {
			if err := each(k, []byte(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

func keyNumber(n int) (k weburl.Key) {
	copy(k[:], fmt.Sprintf("%024d", n))
	return k
}

// recordsUnderTest copies from a store in memory; its clock is moved by the test, and its rests are counted.
func recordsUnderTest(t *testing.T, from *memoryLines, now *time.Time,
	rest time.Duration) (r *records, copied func() []string) {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	to := open("pages.jsonl")
	r = newRecords(from, to, open("wanted"))
	r.now = func() time.Time { return *now }
	r.rest = func(time.Duration) time.Duration { return rest }
	return r, func() (lines []string) {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(to.Name())
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(data) {
			lines = append(lines, string(bytes.TrimSpace(l)))
		}
		slices.Sort(lines)
		return lines
	}
}

// Each record that is stored by now or within a minute is copied once; one that never comes is given up.
func TestRecordsAreCopiedOnceTheyAreStored(t *testing.T) {
	from := &memoryLines{lines: map[weburl.Key]string{}, asked: map[weburl.Key]int{}}
	now := time.Unix(1000, 0)
	r, copied := recordsUnderTest(t, from, &now, 0)
	const n = 10_000
	var want []string
	for i := range n {
		if i%10 != 0 {
			from.lines[keyNumber(i)] = fmt.Sprintf("record %d", i)
			want = append(want, from.lines[keyNumber(i)])
		}
		if err := r.want(keyNumber(i)); err != nil {
			t.Fatal(err)
		}
	}
	if !r.left() {
		t.Error("nothing is left before the first look")
	}
	_ = copied() // what is wanted is written
	for second := 0; r.left() && second < 120; second++ {
		if err := r.copy(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if second == 20 { // half of those that are missing come late
			for i := 0; i < n; i += 20 {
				from.lines[keyNumber(i)] = fmt.Sprintf("record %d", i)
				want = append(want, from.lines[keyNumber(i)])
			}
		}
		now = now.Add(time.Second)
	}
	slices.Sort(want)
	if got := copied(); !slices.Equal(got, want) || r.left() {
		t.Errorf("%d records are copied, want %d; left: %v", len(got), len(want), r.left())
	}
	if never := from.asked[keyNumber(10)]; never != len(recordWaits)+1 {
		t.Errorf("a record that never comes was asked for %d times", never)
	}
}

// Between two batches it rests, so that beside a full machine it falls behind instead of slowing crawls.
func TestRecordsRestBetweenBatches(t *testing.T) {
	from := &memoryLines{lines: map[weburl.Key]string{}, asked: map[weburl.Key]int{}}
	now := time.Unix(1000, 0)
	r, copied := recordsUnderTest(t, from, &now, 5*time.Second)
	r.worked = prompt
	for i := range 3 * recordBatch {
		from.lines[keyNumber(i)] = "r"
		if err := r.want(keyNumber(i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = copied()
	if got := r.toCome(); got != 3*recordBatch*usualRecord {
		t.Errorf("%d octets are to come before the first look", got)
	}
	for second := range 11 {
		if err := r.copy(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if got, want := len(copied()), (second/5+1)*recordBatch; got != want {
			t.Errorf("after %d s %d records are copied, want %d", second, got, want)
		}
		if got, want := r.toCome(), int64(2-second/5)*recordBatch*int64(len("r\n")); got != want {
			t.Errorf("after %d s %d octets are to come, want %d", second, got, want)
		}
		now = now.Add(time.Second)
	}
}

// The records of a small job are copied without a rest, however busy the machine is.
func TestTheFirstRecordsAreCopiedAtOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	from := &memoryLines{lines: map[weburl.Key]string{}, asked: map[weburl.Key]int{},
		took: func() { now = now.Add(prompt / 4) }}
	r, copied := recordsUnderTest(t, from, &now, time.Hour)
	for i := range 10 * recordBatch {
		from.lines[keyNumber(i)] = "r"
		if err := r.want(keyNumber(i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = copied()
	for range 3 {
		if err := r.copy(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if got := len(copied()); got != 4*recordBatch {
			t.Errorf("%d records are copied, want %d", got, 4*recordBatch)
		}
	}
}
