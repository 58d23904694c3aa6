package explore

import (
	"bytes"
	"log/slog"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// certain are texts that a line of crawl.log has as they are if the filter matches it: to look for them costs a
// hundredth of reading the line. What could be written in another way, as "&" in JSON, is left out.
func (f *LogFilter) certain() (texts [][]byte) {
	for _, text := range []string{f.Host, f.Verdict, f.Reason, f.Query} {
		if text != "" && strings.Trim(text,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/?=%+:") == "" {
			texts = append(texts, []byte(text))
		}
	}
	return texts
}

// wanted returns a line of crawl.log as the list has it, where the filter matches it.
func (x *index) wanted(f *LogFilter, must [][]byte, level slog.Level, text []byte, off int64) (l LogLine, ok bool) {
	for _, m := range must {
		if !bytes.Contains(text, m) && literal(text) {
			return l, false
		}
	}
	read, err := jsonl.ParseLogLine(text)
	if err != nil || !f.mayMatch(read, level) {
		return l, false
	}
	l = x.logLine(read, off)
	return l, f.matches(&l, level)
}

// literal reports whether a line shows its texts as they are: what has escapes or marks of direction is shown without.
func literal(text []byte) bool {
	for _, c := range text {
		if c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// mayMatch looks at what costs nothing, before the line is made ready for the list.
func (f *LogFilter) mayMatch(l *crawl.LogLine, level slog.Level) bool {
	return levelOf(l) >= level && (f.Host == "" || f.Host == l.URL.HostKey()) &&
		(f.Verdict == "" || f.Verdict == l.Verdict.String()) && (f.Reason == "" || f.Reason == l.Reason) &&
		(f.Status == 0 || f.Status == l.Status || l.Status >= 100 && f.Status == l.Status/100) && f.within(l.At)
}
