package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is headless Chromium, told what to do over a pipe (Chrome DevTools Protocol). It reaches no network.
type browser struct {
	t       *testing.T
	to      *os.File
	answers chan message
	session string
	last    int
	events  []message // of the page that is shown
}

// message is one of the protocol.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// chromium starts the browser; a test is skipped where there is none.
func chromium(t *testing.T, args ...string) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if program, err = exec.LookPath("chromium-browser"); err != nil {
			t.Skip("Chromium is not installed (Debian: apt-get install chromium): nobody looks at the copy")
		}
	}
	readTo, to, err1 := os.Pipe()
	from, writeFrom, err2 := os.Pipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	cmd := exec.Command(program, append([]string{"--headless=new", "--no-sandbox", "--disable-gpu",
		"--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--no-first-run", "--disable-component-update",
		"--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage"}, args...)...)
	cmd.ExtraFiles = []*os.File{readTo, writeFrom} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = readTo.Close(), writeFrom.Close()
	b := &browser{t: t, to: to, answers: make(chan message, 1024)}
	read := make(chan struct{})
	go func() { defer close(read); b.read(from) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = to.Close()
		go func() { //nolint:revive // whoever reads may wait for room
			for range b.answers {
			}
		}()
		<-read
		_ = from.Close()
	})
	b.open()
	return b
}

func (b *browser) read(from *os.File) {
	defer close(b.answers)
	for r := bufio.NewReaderSize(from, 1<<20); ; {
		data, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data[:len(data)-1], &m) == nil {
			b.answers <- m
		}
	}
}

// browserPatience bounds what the browser takes for anything.
const browserPatience = time.Minute

// call makes a call and returns its result. Events that come meanwhile are kept.
func (b *browser) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	b.last++
	call := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	data, err := json.Marshal(call)
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		if m := b.next(browserPatience); m.ID == b.last {
			if m.Error != nil {
				b.t.Fatalf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
}

// next waits for the next message; the zero one: none came for so long.
func (b *browser) next(wait time.Duration) message {
	b.t.Helper()
	select {
	case m, ok := <-b.answers:
		if !ok {
			b.t.Fatal("the browser ended")
		}
		if m.Method != "" {
			b.events = append(b.events, m)
		}
		return m
	case <-time.After(wait):
		return message{}
	}
}

// open opens a page to work in.
func (b *browser) open() {
	var target struct{ TargetID string }
	_ = json.Unmarshal(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), &target)
	var attached struct{ SessionID string }
	_ = json.Unmarshal(b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}),
		&attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime"} {
		b.call(domain+".enable", nil)
	}
}

// quiet is how long nothing may come before a page counts as loaded.
const quiet = 150 * time.Millisecond

// show loads a page and returns its requests that failed, by URL.
func (b *browser) show(url string) (failed map[string]string, requests int) {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": url})
	loaded := func() bool {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(browserPatience); ; {
		if m := b.next(quiet); m.Method == "" && m.ID == 0 && loaded() {
			break
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s was not loaded in %v", url, browserPatience)
		}
	}
	return b.failures()
}

// failures reads the events of requests.
func (b *browser) failures() (failed map[string]string, requests int) {
	failed, urls := map[string]string{}, map[string]string{}
	for _, e := range b.events {
		var p struct {
			RequestID string
			ErrorText string
			Canceled  bool
			Request   struct{ URL string }
			Response  struct{ Status int }
		}
		if json.Unmarshal(e.Params, &p) != nil {
			continue
		}
		switch e.Method {
		case "Network.requestWillBeSent":
			urls[p.RequestID] = p.Request.URL
		case "Network.loadingFailed":
			if !p.Canceled {
				failed[urls[p.RequestID]] = p.ErrorText
			}
		case "Network.responseReceived":
			if p.Response.Status >= 400 {
				failed[urls[p.RequestID]] = fmt.Sprint("status ", p.Response.Status)
			}
		}
	}
	return failed, len(urls)
}

// eval evaluates an expression in the page, and returns its value as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result struct{ Value any }
	}
	_ = json.Unmarshal(b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true}), &r)
	return fmt.Sprint(r.Result.Value)
}

// shot keeps a picture of the page where somebody asks for it.
func (b *browser) shot(name string) {
	dir := os.Getenv("WHIRLPOOL_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var r struct{ Data []byte }
	if err := json.Unmarshal(b.call("Page.captureScreenshot", nil), &r); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), r.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fileURL is the URL of a file.
func fileURL(path string) string {
	return "file://" + strings.ReplaceAll(filepath.ToSlash(path), "%", "%25")
}
