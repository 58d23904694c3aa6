package topic_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// pages makes texts of common words, and of some that belong to a subject.
func pages(n int, seed uint64, subject string) (out []topic.Vector) {
	random := rand.New(rand.NewPCG(seed, 7))
	for range n {
		var b bytes.Buffer
		for range 120 {
			if subject != "" && random.IntN(8) == 0 {
				fmt.Fprintf(&b, "%s%c ", subject, 'a'+rune(random.IntN(20)))
			} else {
				fmt.Fprintf(&b, "common%c%c ", 'a'+rune(random.IntN(26)), 'a'+rune(random.IntN(26)))
			}
		}
		out = append(out, read("", b.String()))
	}
	return out
}

func train(t *testing.T, yes, no, background []topic.Vector) *topic.Model {
	t.Helper()
	m, err := topic.Train(yes, no, background)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func judge(m *topic.Model, yes, no []topic.Vector) (js []topic.Judged) {
	for _, v := range yes {
		js = append(js, topic.Judged{P: m.Score(0, v), Yes: true})
	}
	for _, v := range no {
		js = append(js, topic.Judged{P: m.Score(0, v)})
	}
	return js
}

func TestTrainTellsATopic(t *testing.T) {
	yes, no := pages(50, 1, "beer"), pages(200, 2, "wine")
	for _, c := range []struct {
		name           string
		examples, auc  float64
		no, background []topic.Vector
	}{
		{"labelled", 50, 0.99, pages(200, 3, "wine"), nil},
		{"five examples", 5, 0.95, nil, pages(100, 4, "wine")},
	} {
		m := train(t, pages(int(c.examples), 5, "beer"), c.no, c.background)
		if got := topic.AUC(judge(m, yes, no)); got < c.auc {
			t.Errorf("%s: AUC %.3f, want %v at least", c.name, got, c.auc)
		}
	}
	// Negative control: of labels that mean nothing nothing can be learned.
	mixed := pages(100, 6, "")
	m := train(t, mixed[:50], mixed[50:], nil)
	if got := topic.AUC(judge(m, yes, no)); math.Abs(got-0.5) > 0.3 {
		t.Errorf("without a topic: AUC %.3f", got)
	}
}

func TestClasses(t *testing.T) {
	m, err := topic.TrainClasses([]topic.Labelled{{Name: "beer", Pages: pages(40, 1, "beer")},
		{Name: "wine", Pages: pages(40, 2, "wine")}, {Name: "tea", Pages: pages(40, 3, "tea")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Names(); !reflect.DeepEqual(got, []string{"beer", "wine", "tea"}) {
		t.Errorf("classes %q", got)
	}
	for i, name := range m.Names() {
		for _, v := range pages(10, 9, name) {
			for j := range m.Names() {
				if j != i && m.Score(j, v) >= m.Score(i, v) {
					t.Errorf("a page of %s is %.2f, and %s %.2f", name, m.Score(i, v), m.Names()[j], m.Score(j, v))
				}
			}
		}
	}
	if _, err := topic.TrainClasses([]topic.Labelled{{Name: "one", Pages: pages(1, 1, "")}}); err == nil {
		t.Error("one class is no choice")
	}
}

func TestTrainingRepeats(t *testing.T) {
	a, b := train(t, pages(20, 1, "beer"), nil, pages(80, 2, "wine")),
		train(t, pages(20, 1, "beer"), nil, pages(80, 2, "wine"))
	if a.Digest() != b.Digest() {
		t.Error("the same pages gave two models")
	}
	if c := train(t, pages(20, 1, "beer"), nil, pages(79, 2, "wine")); c.Digest() == a.Digest() {
		t.Error("other pages gave the same model")
	}
}

func TestTrainRefuses(t *testing.T) {
	some := pages(1, 1, "")
	if _, err := topic.Train(nil, some, nil); err == nil {
		t.Error("a topic without an example")
	}
	if _, err := topic.Train(some, nil, nil); err == nil {
		t.Error("a topic that nothing is told apart from")
	}
}

func TestModelComesBack(t *testing.T) {
	m := train(t, pages(10, 1, "beer"), nil, pages(40, 2, "wine"))
	b := m.Append(nil)
	if len(b) > topic.MaxModel {
		t.Errorf("the model has %d bytes", len(b))
	}
	back, err := topic.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range pages(10, 3, "beer") {
		if got, want := back.Score(0, v), m.Score(0, v); got != want {
			t.Errorf("score %v, before %v", got, want)
		}
	}
	for at := 0; at < len(b); at += 1 + len(b)/997 {
		bad := bytes.Clone(b)
		bad[at] ^= 0x41
		if _, err := topic.Parse(bad); err == nil {
			t.Fatalf("byte %d of %d is wrong, and it was read", at, len(b))
		}
		if _, err := topic.Parse(b[:at]); err == nil {
			t.Fatalf("%d of %d bytes were read", at, len(b))
		}
	}
	bad := bytes.Clone(b)
	bad[6]++
	if _, err := topic.Parse(bad); !errors.Is(err, topic.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

func TestVectorsComeBack(t *testing.T) {
	want := []topic.Vector{read("Beer", "beer is brewed"), read("", "words alone"), read("title", "")}
	got, err := topic.ParseVectors(topic.AppendVectors(nil, want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d pages, %v", len(got), err)
	}
	m := train(t, want[:1], want[1:2], nil)
	for i := range want {
		if got[i].Title != want[i].Title || m.Score(0, got[i]) != m.Score(0, want[i]) {
			t.Errorf("page %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		name    string
		js      []topic.Judged
		auc, f1 float64
	}{
		{"right", []topic.Judged{{0.9, true}, {0.1, false}}, 1, 1},
		{"wrong", []topic.Judged{{0.1, true}, {0.9, false}}, 0, 0},
		{"equal", []topic.Judged{{0.5, true}, {0.5, false}}, 0.5, 2.0 / 3},
		{"none", nil, 0.5, 0},
		{"mixed", []topic.Judged{{0.9, true}, {0.6, false}, {0.4, true}, {0.2, false}}, 0.75, 0.5},
	} {
		if got := topic.AUC(c.js); math.Abs(got-c.auc) > 1e-12 {
			t.Errorf("%s: AUC %v, want %v", c.name, got, c.auc)
		}
		if got := topic.F1(c.js, 0.5); math.Abs(got-c.f1) > 1e-12 {
			t.Errorf("%s: F1 %v, want %v", c.name, got, c.f1)
		}
	}
}

func FuzzParse(f *testing.F) {
	m, err := topic.Train(pages(2, 1, "beer"), pages(2, 2, "wine"), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Append(nil))
	f.Add([]byte("wtopic\x01"))
	v := read("", "some words")
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := topic.Parse(b)
		if err != nil {
			return
		}
		for i := range m.Names() {
			if p := m.Score(i, v); math.IsNaN(p) || p < 0 || p > 1 {
				t.Fatalf("P %v", p)
			}
		}
		if back, err := topic.Parse(m.Append(nil)); err != nil || back.Digest() != m.Digest() {
			t.Fatalf("it does not come back: %v", err)
		}
	})
}

func FuzzParseVectors(f *testing.F) {
	f.Add(topic.AppendVectors(nil, pages(2, 1, "beer")))
	f.Fuzz(func(t *testing.T, b []byte) {
		pages, err := topic.ParseVectors(b)
		if err != nil {
			return
		}
		for _, v := range pages {
			for _, id := range v.IDs {
				if id >= topic.Features {
					t.Fatal("a feature is out of range")
				}
			}
		}
	})
}
