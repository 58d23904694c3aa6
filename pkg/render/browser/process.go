package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// process is a running browser.
type process struct {
	cfg     Config
	cmd     *exec.Cmd
	root    session
	events  *queue
	profile *profile
	mode    mode
	said    *tail
	exited  chan struct{} // closed when the process has been waited for
	renders int           // done; guarded by the Chromium's mutex
	virtual bool          // virtual time works
	aTab    int           // processes that a tab has, as the first one had; 0: not known yet

	opening sync.Mutex // a tab is being opened

	mu     sync.Mutex
	owners map[int64]*tab                      // of processes that render
	pages  map[target.ID]chan target.SessionID // targets that we make, until their session is there
}

// start starts a browser in the first mode that works here.
func start(ctx context.Context, cfg Config, modes []mode) (*process, error) {
	var err error
	for _, m := range modes {
		var p *process
		if p, err = startAs(ctx, cfg, m); err == nil {
			return p, nil
		}
		if !errors.As(err, new(*UnavailableError)) {
			break
		}
	}
	return nil, err
}

func startAs(ctx context.Context, cfg Config, m mode) (*process, error) {
	profile, err := newProfile(cfg.Dir, m)
	if err != nil {
		return nil, err
	}
	p := &process{cfg: cfg, profile: profile, mode: m, said: new(tail), exited: make(chan struct{}), events: newQueue(),
		pages: map[target.ID]chan target.SessionID{}, owners: map[int64]*tab{}}
	pipe, err := p.launch()
	if err != nil {
		profile.remove()
		return nil, err
	}
	p.root = session{wire: newWire(pipe, p.events)}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.greet(ctx); err != nil {
		p.end()
		return nil, p.explain(err)
	}
	go p.watch()
	return p, nil
}

// launch starts the process with its pipes.
func (p *process) launch() (*chromedp.PipeConn, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ourOut.Close())
	}
	defer theirOut.Close()
	// It outlives the call that starts it: end ends it.
	args := append(p.cfg.arguments(p.profile.dir), p.mode.arguments()...)
	p.cmd = exec.CommandContext(context.Background(), p.cfg.Path, args...)
	p.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4, as the flag has it
	p.cmd.Env, p.cmd.Dir = p.profile.environment(), p.profile.dir
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	p.cmd.WaitDelay = time.Second
	p.mode.apply(p.cmd)
	if err := p.run(); err != nil {
		return nil, errors.Join(startError(p.cfg.Path, p.mode, err), ourIn.Close(), ourOut.Close())
	}
	return chromedp.NewPipeConn(ourIn, patient{ourOut}), nil
}

// run starts the process in a thread that lives as long as it does: the kernel kills it when that thread ends.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in ProcessState
			close(p.exited)
		}
	}()
	return <-started
}

// greet waits until the browser answers, and has it tell us of all targets before they run.
func (p *process) greet(ctx context.Context) error {
	if _, err := cdp.Call(ctx, p.root, browser.GetVersion, cdp.Empty{}); err != nil {
		return err
	}
	_, err := cdp.Call(ctx, p.root, target.SetAutoAttach, attach)
	return err
}

var attach = target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(true)}

// explain says why the browser did not start, from what it said.
func (p *process) explain(err error) error {
	said := p.said.String()
	for mark, reason := range map[string]string{
		"No usable sandbox": "its sandbox needs user namespaces (sysctl kernel.unprivileged_userns_clone, " +
			"kernel.apparmor_restrict_unprivileged_userns)",
		"without --no-sandbox is not supported": "as root it has no sandbox",
		"error while loading shared libraries":  "it is not wholly installed",
		"Permission denied":                     "it may not read what it needs",
	} {
		if strings.Contains(said, mark) {
			return &UnavailableError{p.cfg.Path, reason + " (" + p.mode.String() + ")", lastLine(said)}
		}
	}
	state := ""
	if p.cmd.ProcessState != nil {
		state = ", " + p.cmd.ProcessState.String()
	}
	return fmt.Errorf("the browser %s did not start (%s%s): %w: %w", p.cfg.Path, p.mode, state, err, lastLine(said))
}

func lastLine(said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return errors.New("it said: " + lines[len(lines)-1])
}

// watch hands over the pages that we make, and closes all other targets that nobody is the parent of: popups, service
// workers and shared workers.
func (p *process) watch() {
	for {
		select {
		case <-p.root.wire.done:
			return
		case <-p.events.more:
		}
		for _, e := range p.events.take() {
			var to target.EventAttachedToTarget
			if e.method != target.AttachedToTarget.Method || decode(e.params, &to) != nil {
				continue
			}
			info := to.TargetInfo
			if info.Type == "page" && info.OpenerID == "" && info.BrowserContextID != "" && info.Subtype == "" {
				p.page(info.TargetID) <- to.SessionID
				continue
			}
			session{p.root.wire, to.SessionID}.shut(info)
		}
	}
}

// shut closes a target that nobody wants. A page must run for that: its requests pause, and nobody answers them.
func (s session) shut(info *target.Info) {
	if info.Type == "page" {
		s.tell(fetch.CommandEnable, fetch.EnableParams{})
		s.tell(cdpruntime.CommandRunIfWaitingForDebugger, nil)
	}
	session{wire: s.wire}.tell(target.CommandCloseTarget, target.CloseTargetParams{TargetID: info.TargetID})
}

// page returns where the session of a target is told: before or after its making has returned.
func (p *process) page(id target.ID) chan target.SessionID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages[id] == nil {
		p.pages[id] = make(chan target.SessionID, 1)
	}
	return p.pages[id]
}

func (p *process) forget(id target.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pages, id)
}

// own notes whose pages a process renders.
func (p *process) own(id int64, t *tab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[id] = t
}

// owned returns the processes that render a tab's pages.
func (p *process) owned(t *tab) (ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, owner := range p.owners {
		if owner == t {
			ids = append(ids, id)
		}
	}
	return ids
}

// disown notes that the processes of a closed tab are nobody's: they may live on for a while, and are no other tab's.
func (p *process) disown(t *tab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, owner := range p.owners {
		if owner == t {
			p.owners[id] = nobody
		}
	}
}

// nobody owns the processes of closed tabs.
var nobody = new(tab)

// owner returns the tab of a process, or nil where that is not known.
func (p *process) owner(id int64) *tab {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owners[id]
}

// alive reports whether the browser still answers.
func (p *process) alive() bool {
	select {
	case <-p.root.wire.done:
		return false
	case <-p.exited:
		return false
	default:
		return true
	}
}

// end ends the browser with all its processes, and removes its profile.
func (p *process) end() {
	p.mode.kill(p)
	<-p.exited
	_ = p.root.wire.pipe.Close() // nothing more is written
	<-p.root.wire.done
	p.profile.remove()
}

// tail keeps the end of what the browser says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailOctets = 8 << 10

// Write keeps the last octets.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailOctets; over > 0 {
		t.text = bytes.Clone(t.text[over:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
