package warc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// What a render made of an answer is a conversion record that names the answer's, and the archive stays flawless.
func TestConversion(t *testing.T) {
	x := page(t, 1)
	x.ID = crawl.Capture("0123456789abcdef")
	made := &crawl.Exchange{Job: x.Job, URL: x.URL, Started: x.Started, Body: []byte("<p>made by scripts"), Refers: x.ID,
		ResponseHeader: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	file := only(t, write(t, warc.Options{}, x, made, made))
	if sum := wantFlawless(t, file); sum.ByType["conversion"] != 2 || sum.ByType["response"] != 1 {
		t.Errorf("%v", sum.ByType)
	}
	records := unzip(t, file)
	id, last := uuidPattern.FindString(records[1]), records[len(records)-1]
	for _, want := range []string{"WARC-Type: conversion", "WARC-Refers-To: " + id,
		"Content-Type: text/html; charset=utf-8", "\r\n\r\n<p>made by scripts\r\n\r\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in %q", want, last)
		}
	}
}
