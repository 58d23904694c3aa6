package process

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLogQueue(t *testing.T) {
	q := newLogQueue()
	var out bytes.Buffer
	log := slog.New(q.handler(slog.NewTextHandler(&out, nil))).With("node", "n1").WithGroup("g")
	log.Debug("not kept")
	log.Info("first", "url", "https://a.test/", "text", strings.Repeat("x", 1<<20))
	<-q.More()
	lines, dropped := q.Take(10)
	if len(lines) != 1 || dropped != 0 || lines[0].Message != "first" || lines[0].Fields["node"] != "n1" ||
		lines[0].Fields["g.url"] != "https://a.test/" || len(lines[0].Fields["g.text"]) != maxLogValue ||
		!strings.Contains(out.String(), "first") {
		t.Fatalf("%+v, %d, %.100s", lines, dropped, out.String())
	}
	for range queuedLines + 7 { // nobody takes them: it does not wait
		log.Info("more")
	}
	lines, dropped = q.Take(100)
	if len(lines) != 100 || dropped != 7 {
		t.Errorf("%d lines, %d dropped", len(lines), dropped)
	}
	for range 50 {
		log.Warn("newer")
	}
	q.Return(lines, dropped)
	lines, dropped = q.Take(queuedLines)
	if len(lines) != queuedLines || dropped != 57 || lines[0].Message != "more" || lines[len(lines)-1].Message != "newer" {
		t.Errorf("%d lines, %d dropped, %s … %s", len(lines), dropped, lines[0].Message, lines[len(lines)-1].Message)
	}
}
