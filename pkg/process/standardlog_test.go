package process

import (
	"bytes"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestTheStandardLoggerSpeaksAtLevelDebug(t *testing.T) {
	before, flags := slog.Default(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr)
		log.SetFlags(flags)
	})
	for level, want := range map[slog.Level]string{slog.LevelDebug: "DEBUG unasked WARN worse",
		slog.LevelInfo: "WARN worse"} {
		var out bytes.Buffer
		StandardLog(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
		log.Print("unasked")
		slog.Warn("worse")
		var got []string
		for line := range strings.Lines(out.String()) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
			got = append(got, strings.ReplaceAll(line, "msg=", ""))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("at level %v the log says %q, want %q", level, text, want)
		}
	}
}
