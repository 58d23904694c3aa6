package jsonl_test

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

func BenchmarkAppendRecord(b *testing.B) {
	for name, sentence := range map[string]string{
		"english": "The crawler walks the web, one \"page\" at a time, and it is in no hurry at all.\n",
		"russian": "Паук обходит сеть страница за страницей и никуда не торопится.\n",
		"chinese": "爬虫一页一页地浏览网络，一点也不着急。\n",
	} {
		b.Run(name, func(b *testing.B) {
			r := typicalRecord(b, strings.Repeat(sentence, 8000/len(sentence)))
			buf := jsonl.AppendRecord(nil, r)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = jsonl.AppendRecord(buf[:0], r)
			}
		})
	}
}

func BenchmarkAppendLogLine(b *testing.B) {
	l := fullLogLine(b)
	buf := jsonl.AppendLogLine(nil, l)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = jsonl.AppendLogLine(buf[:0], l)
	}
}

func BenchmarkParseRecord(b *testing.B) {
	line := jsonl.AppendRecord(nil, typicalRecord(b, strings.Repeat("The crawler walks the web. ", 300)))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonl.ParseRecord(line); err != nil {
			b.Fatal(err)
		}
	}
}
