package jsonl_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; users read this format\n got %s\nwant %s", name, got, want)
	}
}

func TestFormatOfRecordsStaysAsItIs(t *testing.T) {
	out := jsonl.AppendRecord(nil, fullRecord(t))
	out = jsonl.AppendRecord(out, &crawl.Record{})
	golden(t, "records.jsonl", out)
}

func TestFormatOfLogLinesStaysAsItIs(t *testing.T) {
	out := jsonl.AppendLogLine(nil, fullLogLine(t))
	out = jsonl.AppendLogLine(out, &crawl.LogLine{
		At: sampleTime, URL: mustURL(t, "http://elsewhere.test/"), Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonScope,
	})
	golden(t, "crawl.log", out)
}

func TestLineIsOneValidJSONObject(t *testing.T) {
	for _, line := range [][]byte{
		jsonl.AppendRecord(nil, fullRecord(t)), jsonl.AppendRecord(nil, &crawl.Record{}),
		jsonl.AppendLogLine(nil, fullLogLine(t)), jsonl.AppendLogLine(nil, &crawl.LogLine{}),
	} {
		if !json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Errorf("not one line of JSON: %q", line)
		}
	}
}

func TestRecordComesBack(t *testing.T) {
	want := fullRecord(t)
	got, err := jsonl.ParseRecord(jsonl.AppendRecord(nil, want))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Links {
		want.Links[i].Tag = "" // not in the file
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestLogLineComesBack(t *testing.T) {
	want := fullLogLine(t)
	for _, want.Verdict = range []crawl.Verdict{crawl.VerdictNone, crawl.VerdictBlocked, crawl.VerdictInterrupted} {
		got, err := jsonl.ParseLogLine(jsonl.AppendLogLine(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestFieldValues(t *testing.T) {
	type odd struct{ A int }
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`}, {"", `""`}, {false, `false`}, {1.0, `1`}, {-0.25, `-0.25`}, {1e21, `1e+21`}, {1e-7, `1e-07`},
		{uint64(math.MaxUint64), `18446744073709551615`}, {int64(-5), `-5`}, {7, `7`},
		{math.Inf(1), `null`}, {math.NaN(), `null`},
		{[]string{"a", "\xff"}, `["a","\ufffd"]`}, {[]float64{1, 2.5}, `[1,2.5]`}, {[]any{}, `[]`},
		{[]any{map[string]any{"b": "<a>", "a": []any{1.0}}, map[string]any{}}, `[{"a":[1],"b":"<a>"},{}]`},
		{odd{1}, `{"A":1}`}, {func() {}, `null`},
	} {
		line := jsonl.AppendRecord(nil, &crawl.Record{Fields: []crawl.Field{{Name: "v", Value: c.value}}})
		if want := []byte(`"fields":{"v":` + c.want + `},`); !bytes.Contains(line, want) {
			t.Errorf("%v: want %s in %s", c.value, want, line)
		}
	}
}

func TestFieldNamedTwiceKeepsTheFirst(t *testing.T) {
	line := jsonl.AppendRecord(nil, &crawl.Record{Fields: []crawl.Field{
		{Name: "a", Value: 1.0}, {Name: "b", Value: 2.0}, {Name: "a", Value: 3.0},
	}})
	if !bytes.Contains(line, []byte(`"fields":{"a":1,"b":2},`)) {
		t.Errorf("got %s", line)
	}
}

func TestMillisecondsAreExactToTheMicrosecond(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: `"ms":1000}`, 1500 * time.Microsecond: `"ms":1.5}`, 1001 * time.Microsecond: `"ms":1.001}`,
		time.Microsecond: `"ms":0.001}`, 999 * time.Nanosecond: `"status":0}`,
	} {
		if line := jsonl.AppendLogLine(nil, &crawl.LogLine{Duration: d}); !bytes.Contains(line, []byte(want)) {
			t.Errorf("%v: want %s in %s", d, want, line)
		}
	}
}

func TestParsersRefuse(t *testing.T) {
	record := func(b []byte) error { _, err := jsonl.ParseRecord(b); return err }
	log := func(b []byte) error { _, err := jsonl.ParseLogLine(b); return err }
	good := `{"url":"http://a.test/","kind":"page","verdict":"done","time":"2026-01-02T03:04:05.000Z"`
	for _, c := range []struct {
		name  string
		parse func([]byte) error
		line  string
	}{
		{"nothing", record, ``}, {"half a line", record, good}, {"no url", record, `{}`},
		{"another scheme", record, `{"url":"ftp://a.test/"}`},
		{"short digest", record, good + `,"digest":"sha256:00"}`},
		{"digest of another kind", record, good + `,"digest":"md5:00"}`},
		{"simhash of 15 digits", record, good + `,"simhash":"000000000000000"}`},
		{"signed simhash", record, good + `,"simhash":"+000000000000000"}`},
		{"fields in a list", record, good + `,"fields":[1]}`}, {"bad time", record, good + `,"fetched_at":"yesterday"}`},
		{"unknown verdict", log, `{"kind":"page","verdict":"maybe"}`},
		{"unknown kind", log, `{"kind":"film","verdict":"done"}`}, {"bad address", log, good + `,"addr":"1.2.3"}`},
	} {
		if c.parse([]byte(c.line)) == nil {
			t.Errorf("%s: accepted %s", c.name, c.line)
		}
	}
	if err := record([]byte(good + `,"added_later":1}`)); err != nil {
		t.Errorf("a key of a newer version: %v", err)
	}
	if err := log([]byte(good + `,"added_later":1}`)); err != nil {
		t.Errorf("a key of a newer version: %v", err)
	}
}

func TestAppendingAllocatesNothing(t *testing.T) {
	r, l := fullRecord(t), fullLogLine(t)
	buf := make([]byte, 0, 1<<16)
	if n := allocations(func() { buf = jsonl.AppendRecord(buf[:0], r) }); n != 0 {
		t.Errorf("AppendRecord: %v allocations", n)
	}
	if n := allocations(func() { buf = jsonl.AppendLogLine(buf[:0], l) }); n != 0 {
		t.Errorf("AppendLogLine: %v allocations", n)
	}
}

// allocations is how often f allocates. The runtime counts what others allocate meanwhile, too, such as its own
// goroutines on a machine of one processor: the least of several measurements is f's own.
func allocations(f func()) float64 {
	least := math.Inf(1)
	for range 20 {
		least = min(least, testing.AllocsPerRun(100, f))
	}
	return least
}
