package crawl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// oldTask is a task as the version before extensions wrote it, with every field set that there was.
const oldTask = "01ffff04016a1768747470733a2f2f612e6578616d706c652f783f793d3104060402020812aab4b6b1eca280ea311168747470733a2f2f612e6578" +
	"616d706c650322652201781268747470733a2f2f622e6578616d706c652f"

// oldExclusions is a list of one exclusion as the version before extensions wrote it.
const oldExclusions = "58360101001268747470733a2f2f622e6578616d706c652f001768747470733a2f2f612e6578616d706c652f783f793d31020573636f7065"

func mustHex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheVersionBeforeIsReadAndReads: what it wrote is read, and what needs no extension is written as it wrote it.
func TestTheVersionBeforeIsReadAndReads(t *testing.T) {
	var task Task
	if err := DecodeTask(mustHex(t, oldTask), &task); err != nil || task.Lease != 9 || !task.Tracked ||
		task.JobEpoch() != 1 {
		t.Fatalf("an old task is read as %+v, error %v", task, err)
	}
	task.Epoch = 1
	if got := AppendTask(nil, &task); !bytes.Equal(got, mustHex(t, oldTask)) {
		t.Errorf("a task of the first epoch is written as %x, which the version before cannot read", got)
	}
	var list ExclusionList
	data := mustHex(t, oldExclusions)[:2+0x36]
	data[1] = byte(len(data) - 2)
	if err := list.UnmarshalCBOR(data); err != nil || len(list) != 1 || list[0].Reason != "scope" {
		t.Fatalf("an old list of exclusions is read as %+v, error %v", list, err)
	}
	if got, _ := list.MarshalCBOR(); !bytes.Equal(got, data) {
		t.Errorf("exclusions without rules are written as %x, which the version before cannot read", got)
	}
}

// TestTheVersionAfterIsReadAndItsFieldsAreKept: fields that this version does not know travel on through it.
func TestTheVersionAfterIsReadAndItsFieldsAreKept(t *testing.T) {
	const tag = 4711
	newer := string(appendPair(nil, tag, []byte("a field of later")))
	u, err := weburl.Parse("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	task := Task{Job: "j", URL: u, Referrer: u, Epoch: 3, more: newer}
	var got Task
	if err := DecodeTask(AppendTask(nil, &task), &got); err != nil || !reflect.DeepEqual(got, task) {
		t.Errorf("task: got %+v, error %v", got, err)
	}
	got = Task{Job: "j", URL: u}
	if err := DecodeTaskRest(AppendTaskRest(nil, &task), &got); err != nil || !reflect.DeepEqual(got, task) {
		t.Errorf("task of a store: got %+v, error %v", got, err)
	}
	excl := ExclusionList{{URL: u, Reason: "exclude", Rule: "x", Epoch: 2, more: newer},
		{URL: u, Reason: "exclude", Rule: "x"}}
	data, err := excl.MarshalCBOR()
	var back ExclusionList
	if err2 := back.UnmarshalCBOR(data); err != nil || err2 != nil || !reflect.DeepEqual(back, excl) {
		t.Errorf("exclusions: got %+v, errors %v, %v", back, err, err2)
	}
}

// TestALinkOfTheVersionAfterIsRead puts extensions behind a link.
func TestALinkOfTheVersionAfterIsRead(t *testing.T) {
	b := append(listHead(nil, 1), hasTag|hasLinkExtensions)
	b = append(b, 0, 0)               // no URL
	b = append(b, 1, 'a')             // its tag
	b = append(b, 4, 99, 2, 'h', 'i') // one extension
	var l LinkList
	if err := l.UnmarshalCBOR(append([]byte{0x40 | byte(len(b))}, b...)); err != nil || len(l) != 1 || l[0].Tag != "a" {
		t.Errorf("got %+v, error %v", l, err)
	}
}

// TestDamagedExtensionsAreNoticed cuts and bends them.
func TestDamagedExtensionsAreNoticed(t *testing.T) {
	task := Task{Job: "j", Epoch: 300}
	sound := AppendTask(nil, &task)
	for n := len(sound) - 4; n < len(sound); n++ {
		if err := DecodeTask(sound[:n], new(Task)); err == nil {
			t.Errorf("cut at %d of %d octets: no error", n, len(sound))
		}
	}
	long := Task{Job: "j", more: string(appendPair(nil, extEpoch, binary.AppendUvarint(nil, 1<<40)))}
	if err := DecodeTask(AppendTask(nil, &long), new(Task)); err == nil {
		t.Error("an epoch of 2^40 is taken")
	}
}
