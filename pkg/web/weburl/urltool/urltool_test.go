package urltool

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRunURLAnswersEachLineInOrder(t *testing.T) {
	in := `{"input":"HTTP://A/../b?<>","base":null}
{"input":"c","base":"http://a/b/"}
{"input":"c"}

{"input":"x:y&z","other":1}
{"input":"http://a/\ud800x"}
{"input":"","base":"about:blank"}`
	want := `{"href":"http://a/b?%3C%3E"}
{"href":"http://a/b/c"}
{"failure":true}
{"href":"x:y&z"}
{"href":"http://a/%EF%BF%BDx"}
{"failure":true}
`
	var out strings.Builder
	if err := RunURL(strings.NewReader(in), &out); err != nil || out.String() != want {
		t.Errorf("answers:\n%s%v\nwant:\n%s", out.String(), err, want)
	}
}

func TestRunURLNamesTheBrokenLineAfterTheAnswersBeforeIt(t *testing.T) {
	for _, broken := range []string{`{"input":`, `"http://a"`, `{"base":"http://a"}`, `{"input":1}`, `null`} {
		var out strings.Builder
		err := RunURL(strings.NewReader("\n{\"input\":\"http://a\"}\n"+broken+"\n{\"input\":\"http://b\"}\n"), &out)
		if err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%s: %v", broken, err)
		}
		if out.String() != "{\"href\":\"http://a/\"}\n" {
			t.Errorf("%s: answers %q", broken, out.String())
		}
	}
}

func TestRunCanonKeepsLineCounts(t *testing.T) {
	in := "http://A/?utm_source=x#y\n\nmailto:a\nhttp://a/" + strings.Repeat("x", 4000) + "\r\nhttp://b\r\n"
	var out strings.Builder
	if err := RunCanon(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := "http://a/\n! relative reference without a usable base\n! scheme is not http or https\n" +
		"! longer than 4000 bytes\nhttp://b/\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}

// TestAnswersComeWithoutWaitingForTheEnd: a program may ask one question at a time over a pipe.
func TestAnswersComeWithoutWaitingForTheEnd(t *testing.T) {
	questions, ask := io.Pipe()
	answers, answer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- RunCanon(questions, answer) }()
	buf := make([]byte, 100)
	for _, q := range []string{"http://a", "http://b"} {
		if _, err := io.WriteString(ask, q+"\n"); err != nil {
			t.Fatal(err)
		}
		n, err := answers.Read(buf)
		if err != nil || string(buf[:n]) != q+"/\n" {
			t.Fatalf("answer to %q: %q, %v", q, buf[:n], err)
		}
	}
	ask.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestReadAndWriteErrorsAreReported(t *testing.T) {
	broken := errors.New("disk on fire")
	if err := RunCanon(iotest.ErrReader(broken), io.Discard); !errors.Is(err, broken) {
		t.Errorf("read error: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if err := RunURL(strings.NewReader(`{"input":"http://a"}`), w); !errors.Is(err, broken) {
		t.Errorf("write error: %v", err)
	}
}
