//go:build linux

package browser

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// childEnv names the directory in which a process that is to be killed starts a browser.
const childEnv = "WHIRLPOOL_TEST_BROWSER_CHILD"

// We are killed: so is the browser, and what it leaves the next start removes.
func TestKilledWithoutWarning(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		c, err := New(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("profile " + c.p.profile.dir + "\n")
		select {}
	}
	needBrowser(t)
	t.Parallel()
	dir := shortDir(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWithoutWarning$")
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	profile, ok := strings.CutPrefix(strings.TrimSpace(line), "profile ")
	if err != nil || !ok || len(mentions(profile)) == 0 {
		t.Fatalf("%v, it said %q", err, line)
	}
	cmd.Process.Kill()
	go io.Copy(io.Discard, out)
	cmd.Wait()
	for end := time.Now().Add(5 * time.Minute); len(mentions(profile)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("processes are left: %v", mentions(profile))
		}
	}
	started(t, Config{Dir: dir})
	if _, err := os.Stat(profile); err == nil {
		t.Error("the dead browser's profile is left")
	}
}

// mentions returns the processes whose command line names a directory.
func mentions(dir string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(dir)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// Users other than root may render too, where user namespaces are allowed.
func TestUnprivileged(t *testing.T) {
	needBrowser(t)
	if os.Getuid() != 0 {
		t.Skip("not tested: all other tests are run as somebody already")
	}
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	probe := exec.Command("unshare", "-Urn", "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("not tested: no user namespaces here: %v %s", err, out)
	}
	dir := shortDir(t)
	program, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "test"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "test"), "-test.v",
		"-test.run=^(TestHTML|TestHangLeavesNoProcess)$")
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "WHIRLPOOL_TEST_BROWSER=required"}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("\n--- PASS")) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// Where virtual time does not work, the load event and a while without requests tell.
func TestWithoutVirtualTime(t *testing.T) {
	c := started(t, Config{})
	c.virtual, c.p.virtual = false, false
	s := &site{pages: map[string]string{"/a.js": `fetch('/api').then(r=>r.text()).then(t=>document.body.innerHTML=t)`,
		"/api": `<a href=/1>1</a>`}}
	got := s.renders(t, c, render.Request{Body: []byte(`<body><script src=/a.js></script>`)})
	if got.Settled != "idle" || len(got.Links) != 1 {
		t.Errorf("settled by %q with %q", got.Settled, got.Links)
	}
	got = s.renders(t, c, render.Request{Body: []byte(`<body><script>(function f(){fetch('/api').finally(f)})()</script>`),
		Limits: render.Limits{Requests: 30}})
	if got.Verdict != render.Limit {
		t.Errorf("requests without end: %s", got.Verdict)
	}
}

// Hundreds of renders in one browser take no more memory than some, also where some of them hang or leave workers:
// WHIRLPOOL_RENDERS=500.
func TestManyRenders(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("WHIRLPOOL_RENDERS"))
	if n == 0 {
		t.Skip("WHIRLPOOL_RENDERS says how many")
	}
	c := started(t, Config{})
	const body = `<body><script>for(let i=0;i<2000;i++){const a=document.createElement('a');a.href='/'+i;a.textContent='x'.repeat(50);document.body.append(a)};
		for(let i=0;i<5;i++)fetch('/'+i)</script>`
	s, at := &site{pages: map[string]string{"/0": "x", "/1": "y"}}, time.Now()
	var early int64
	first := c.p
	for i := 1; i <= n; i++ {
		req := render.Request{URL: "http://m.test/" + strconv.Itoa(i), Body: []byte(body)}
		switch i % 25 {
		case 7:
			req.Body = append(req.Body, "<script>new Worker(URL.createObjectURL(new Blob(['for(;;){}'])))</script>"...)
			req.Limits.CPU = 500 * time.Millisecond
		case 19:
			req.Body, req.Limits.CPU = append(req.Body, "<script>for(;;){}</script>"...), 500*time.Millisecond
		}
		got, err := c.Render(t.Context(), req, s.serve)
		if err != nil || len(got.Links) != 2000 && i%25 != 7 && i%25 != 19 {
			t.Fatalf("render %d: %v, %s %s, %d links", i, err, got.Verdict, got.Detail, len(got.Links))
		}
		c.mu.Lock()
		c.p.renders = 1 // so that it is not started anew
		c.mu.Unlock()
		if i%50 == 0 {
			pss := c.p.pss()
			t.Logf("%d renders, %s a render: %d MiB, %d processes", i, time.Since(at)/time.Duration(i), pss>>20,
				len(c.p.processes()))
			if i == 50 {
				early = pss
			}
		}
	}
	if c.p != first {
		t.Error("it was not one browser")
	}
	if late := c.p.pss(); early > 0 && late > early*13/10 {
		t.Errorf("%d MiB after %d renders, %d after 50", late>>20, n, early>>20)
	}
}
