package crawl_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// TestEveryFieldOfATaskIsKept fails when crawl.Task gets a field that the codec does not know.
func TestEveryFieldOfATaskIsKept(t *testing.T) {
	var full crawl.Task
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue // fields of newer versions: extension_test.go
		}
		f, one := v.Field(i), crawl.Task{Job: "j", URL: mustURL(t, "http://a.test/")}
		setSomething(t, f)
		reflect.ValueOf(&one).Elem().Field(i).Set(f)
		sameTask(t, one)
	}
	sameTask(t, full)
	sameTask(t, crawl.Task{})
}

func setSomething(t *testing.T, f reflect.Value) {
	t.Helper()
	switch f.Interface().(type) {
	case time.Time:
		f.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)))
		return
	case bool:
		f.SetBool(true)
		return
	}
	switch {
	case f.Kind() == reflect.String:
		f.SetString("some text")
	case f.CanInt():
		f.SetInt(-123456)
	case f.CanUint():
		f.SetUint(200)
	case f.Type() == reflect.TypeOf(mustURL(t, "http://x.test/")):
		f.Set(reflect.ValueOf(mustURL(t, "https://x.test/?q#f")))
	default:
		t.Fatalf("a field has the type %v: teach the codec and this test about it", f.Type())
	}
}

func sameTask(t *testing.T, want crawl.Task) {
	t.Helper()
	var got crawl.Task
	if err := crawl.DecodeTask(crawl.AppendTask(nil, &want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, error %v", got, want, err)
	}
	got = crawl.Task{Job: want.Job, URL: want.URL}
	if err := crawl.DecodeTaskRest(crawl.AppendTaskRest(nil, &want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("beside its job and URL got %+v, want %+v, error %v", got, want, err)
	}
}

func FuzzDecodeTask(f *testing.F) {
	task := crawl.Task{Job: "j", URL: mustURL(f, "http://a.test/b?c"), Referrer: mustURL(f, "http://a.test/"), Depth: 3,
		ETag: "x", NotBefore: time.UnixMicro(1), Seed: true}
	f.Add(crawl.AppendTask(nil, &task))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again crawl.Task
		if crawl.DecodeTask(b, &got) != nil {
			return
		}
		if err := crawl.DecodeTask(crawl.AppendTask(nil, &got), &again); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
	})
}

func FuzzDecodeTaskRest(f *testing.F) {
	task := crawl.Task{Job: "j", URL: mustURL(f, "http://a.test/b?c"), Referrer: mustURL(f, "http://a.test/b"), Depth: 3,
		ETag: "x"}
	f.Add(crawl.AppendTaskRest(nil, &task))
	f.Add(crawl.AppendTask(nil, &task))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, again := crawl.Task{Job: "j", URL: task.URL}, crawl.Task{Job: "j", URL: task.URL}
		if crawl.DecodeTaskRest(b, &got) != nil {
			return
		}
		if got.Job != "j" || got.URL != task.URL {
			t.Errorf("the task is of job %s and URL %s now", got.Job, got.URL)
		}
		if err := crawl.DecodeTaskRest(crawl.AppendTaskRest(nil, &got), &again); err != nil ||
			!reflect.DeepEqual(got, again) {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
	})
}

// TestListsKeepEveryField gives neighbours in a list one field in common or apart at a time, which the codecs tell
// apart by bits.
func TestListsKeepEveryField(t *testing.T) {
	sameList(t, crawl.TaskList(neighbours[crawl.Task](t)))
	sameList(t, crawl.LinkList(neighbours[crawl.Link](t)))
	sameList(t, crawl.ExclusionList(neighbours[crawl.Exclusion](t)))
}

// neighbours returns, for every field, elements with and without it in every order of two.
func neighbours[E any](t *testing.T) (list []E) {
	var zero, full E
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			setSomething(t, v.Field(i))
		}
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		only, without := zero, full
		reflect.ValueOf(&only).Elem().Field(i).Set(v.Field(i))
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		list = append(list, only, only, zero, zero, only, full, full, without, without, full, zero)
	}
	return list
}

func sameList[L interface {
	~[]E
	MarshalCBOR() ([]byte, error)
}, E any](t *testing.T, want L) {
	t.Helper()
	for n := range len(want) + 1 { // every length: the head of a CBOR byte string changes with it
		data, err := want[:n].MarshalCBOR()
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want))
		if err := crawl.DecodeValue(append([]byte{crawl.CodecVersion}, data...), got.Interface()); err != nil {
			t.Fatalf("%d elements: %v", n, err)
		}
		if !reflect.DeepEqual(got.Elem().Interface(), want[:n:n]) {
			t.Fatalf("got %+v, want %+v", got.Elem(), want[:n])
		}
	}
}

// BenchmarkEvents encodes and decodes events of a page with 40 links.
func BenchmarkEvents(b *testing.B) {
	task := crawl.Task{Job: "bench", URL: mustURL(b, "http://host12.example/section/page-1234.html"), Depth: 3,
		Priority: 2, Referrer: mustURL(b, "http://host12.example/section/page-12.html")}
	var links crawl.LinkList
	var tasks crawl.TaskList
	for i := range 40 {
		link := crawl.Link{URL: mustURL(b, fmt.Sprintf("http://host12.example/section/page-%d.html", i*997)),
			Text: "the text of a link", Tag: "a"}
		next := task
		next.URL, next.Referrer = link.URL, task.URL
		links, tasks = append(links, link), append(tasks, next)
	}
	for _, e := range []crawl.Event{&crawl.Fetch{Task: task}, &crawl.Links{Task: task, Links: links},
		&crawl.Claim{Batch: crawl.Batch{Job: "bench", Tasks: tasks}},
		&crawl.Outcome{Task: task, Verdict: crawl.VerdictDone, Status: 200, Bytes: 30_000}} {
		data, err := crawl.EncodeEvent(e)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode "+e.Topic(), func(b *testing.B) {
			b.ReportMetric(float64(len(data)), "bytes")
			for b.Loop() {
				_, _ = crawl.EncodeEvent(e)
			}
		})
		b.Run("decode "+e.Topic(), func(b *testing.B) {
			for b.Loop() {
				_, _ = crawl.DecodeEvent(e.Topic(), data)
			}
		})
	}
}
