package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Validate checks a WARC file, compressed a record a member or not at all, and calls report for every fault, in the
// order of the file. The error is one of reading r; faults are none. Memory is bounded but for the record ids: about
// 100 bytes a record.
//
// After a fault it goes on with the next record, unless the compression itself is broken.
func Validate(r io.Reader, report func(Fault)) (Summary, error) {
	v := &validator{
		members: newMembers(r), report: report, ids: map[string]struct{}{}, summary: Summary{ByType: map[string]int64{}},
	}
	magic, _ := v.members.buf.Peek(2)
	if string(magic) == "\x1f\x8b" {
		v.compressed()
	} else {
		v.plain()
	}
	v.dangling()
	if v.summary.Records == 0 && v.summary.Faults == 0 {
		v.fault(FaultEmpty, "a WARC file holds at least one record")
	}
	v.summary.Bytes = v.members.offset()
	return v.summary, v.members.src.err
}

type validator struct {
	members *members
	report  func(Fault)
	summary Summary
	ids     map[string]struct{}
	refs    []Fault // WARC-Concurrent-To that named nothing so far; their target in Detail
	at      Fault   // where we are: everything but Kind and Detail is filled in
}

func (v *validator) fault(kind, format string, args ...any) {
	f := v.at
	f.Kind, f.Detail = kind, fmt.Sprintf(format, args...)
	v.summary.Faults++
	v.report(f)
}

// begin moves to the next record.
func (v *validator) begin(offset int64) {
	v.at = Fault{Offset: offset, Record: v.summary.Records + 1}
}

// compressed checks a file of gzip members.
func (v *validator) compressed() {
	content := bufio.NewReaderSize(nil, 64<<10)
	for {
		v.begin(v.members.offset())
		body, err := v.members.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			content.Reset(body)
			err = v.member(content)
		}
		if err != nil {
			v.gzipFault(err)
			return
		}
	}
}

func (v *validator) gzipFault(err error) {
	if v.members.src.err == nil {
		v.fault(FaultGzip, "%v; the rest of the file was not read", err)
	}
}

// member checks that one gzip member holds exactly one record. The error is one of decompression.
func (v *validator) member(r *bufio.Reader) error {
	if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		v.fault(FaultMember, "the gzip member is empty")
		return nil
	}
	whole, err := v.record(r)
	if err != nil {
		return err
	}
	if !whole {
		return drain(r)
	}
	for { // more records in the same member are one fault, and checked all the same
		if _, err := r.Peek(1); err != nil {
			return ignoreEOF(err)
		}
		v.fault(FaultMember, "the gzip member holds more than one record")
		v.begin(v.at.Offset)
		if whole, err := v.record(r); err != nil || !whole {
			return errors.Join(err, drain(r))
		}
	}
}

func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// plain checks an uncompressed file. After a record whose end is not where it should be, it looks for the next one.
func (v *validator) plain() {
	r := v.members.buf
	for {
		v.begin(v.members.offset())
		if _, err := r.Peek(1); err != nil {
			return
		}
		if whole, err := v.record(r); err != nil {
			return // of the file itself
		} else if !whole && !seek(r) {
			return
		}
	}
}

// seek moves to the next line that begins a record.
func seek(r *bufio.Reader) bool {
	for {
		if _, err := r.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false
		}
		if b, _ := r.Peek(len(magicWord)); string(b) == magicWord {
			return true
		}
	}
}

// dangling reports the references whose record never came.
func (v *validator) dangling() {
	for _, f := range v.refs {
		if _, ok := v.ids[f.Detail]; !ok {
			f.Detail = "WARC-Concurrent-To names " + f.Detail + ", which is not in this file"
			v.summary.Faults++
			v.report(f)
		}
	}
}
