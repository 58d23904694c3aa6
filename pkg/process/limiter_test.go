package process

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestAFailingStoreDoesNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &journal{}
		log := slog.New(NewLimiter(out.logger().Handler(), 10))
		for i := range 30_000 { // three seconds
			log.Warn("message failed", "stage", "due", "id", i, "error", errors.New("connection refused"))
			if i%10_000 == 0 {
				log.Warn("message failed", "stage", "parser", "id", i)
				log.Error("message failed", "stage", "due", "id", i)
				log.Info("something else")
			}
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		lines, left := map[string]int{}, 0
		for _, e := range out.entries(t, "") {
			lines[fmt.Sprint(e["level"], " ", e["msg"], " ", e["stage"])]++
			if e["msg"] == "more of the same were left out" {
				if e["message"] != "message failed" {
					t.Errorf("left out: %v", e)
				}
				left += int(e["count"].(float64))
			}
		}
		if n := lines["WARN message failed due"]; n != 30 || n+left != 30_000 {
			t.Errorf("%d lines and %d left out, want 30 and 29,970", n, left)
		}
		if n := lines["WARN more of the same were left out due"]; n != 3 {
			t.Errorf("the count was told %d times, want 3", n)
		}
		for _, other := range []string{"WARN message failed parser", "ERROR message failed due",
			"INFO something else <nil>"} {
			if lines[other] != 3 {
				t.Errorf("%q: %d lines, want 3", other, lines[other])
			}
		}
	})
}

func TestLimiterKeepsWhatItsLoggerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &journal{}
		l := NewLimiter(out.logger().Handler(), 1)
		for _, stage := range []string{"due", "parser"} {
			log := slog.New(l).With("stage", stage).WithGroup("g")
			log.Info("x", "k", 1)
			log.Info("x", "k", 2)
		}
		if err := l.Close(); err != nil { // at the end of a program nothing is lost
			t.Fatal(err)
		}
		lines := out.entries(t, "x")
		left := out.entries(t, "more of the same were left out")
		if len(lines) != 2 || len(left) != 2 || lines[0]["stage"] != "due" || lines[1]["stage"] != "parser" {
			t.Errorf("lines %v, left out %v", lines, left)
		}
	})
}

func TestLimiterWithoutALimitPassesAll(t *testing.T) {
	out := &journal{}
	log := slog.New(NewLimiter(out.logger().Handler(), 0))
	for range 100 {
		log.Info("x")
	}
	if n := len(out.entries(t, "x")); n != 100 {
		t.Errorf("%d lines", n)
	}
}

func TestLimiterStaysSmallWhateverTheMessagesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &journal{}
		l := NewLimiter(out.logger().Handler(), 1)
		for i := range 5 * maxLimitKeys {
			slog.New(l).Info(fmt.Sprint("a URL in a message: ", i))
		}
		if n := len(l.state.windows); n > maxLimitKeys {
			t.Errorf("%d messages are counted", n)
		}
		if n := len(out.entries(t, "")); n != 5*maxLimitKeys {
			t.Errorf("%d lines", n)
		}
	})
}

func BenchmarkLimiterLeavesOut(b *testing.B) {
	log := slog.New(NewLimiter(slog.NewJSONHandler(io.Discard, nil), 10))
	for i := range b.N {
		log.Warn("message failed", "stage", "due", "id", i)
	}
}
