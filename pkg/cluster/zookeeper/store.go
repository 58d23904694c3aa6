package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// Store is a ring in ZooKeeper. It implements member.Store and is safe for concurrent use.
type Store struct{ cfg Config }

var _ member.Store = (*Store)(nil)

// New returns a store. It does not connect.
func New(cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Store{cfg}, nil
}

// Open implements member.Store. It makes the ring's paths where they are missing.
func (s *Store) Open(ctx context.Context) (member.Session, error) {
	x := &session{cfg: s.cfg, log: s.cfg.log(), link: &link{asked: s.cfg.Timeout}, changed: make(chan struct{}, 1),
		ended: make(chan struct{}), begun: make(chan struct{})}
	if err := x.connect(); err != nil {
		return nil, fmt.Errorf("zookeeper at %s: %w", s.address(), err)
	}
	if err := x.begin(ctx); err != nil {
		_ = x.Close()
		return nil, fmt.Errorf("zookeeper at %s: %w", s.address(), err)
	}
	return x, nil
}

func (s *Store) address() string { return strings.Join(s.cfg.Servers, ",") }

// session implements member.Session: one session of ZooKeeper, over connections that may come and go.
type session struct {
	cfg  Config
	log  *slog.Logger
	link *link

	mu   sync.Mutex // guards conn while connect sets it
	conn *zk.Conn

	begun      chan struct{}
	beginOnce  sync.Once
	ended      chan struct{}
	endOnce    sync.Once
	closeOnce  sync.Once
	changed    chan struct{}
	registered atomic.Value // name and incarnation: registration
	// Watches that are set. A second one would be delivered with the first, and until then cost memory in the library.
	tableWatched, nodesWatched atomic.Bool
	last                       atomic.Pointer[stored] // the table that was decoded last
}

// connect begins to connect. Events may come before it returns.
func (x *session) connect() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn, _, err = zk.Connect(x.cfg.Servers, x.cfg.Timeout, zk.WithDialer(x.link.dial), zk.WithEventCallback(x.event),
		zk.WithHostProvider(&hosts{}), zk.WithLogger(quiet{x.log}), zk.WithLogInfo(false))
	return err
}

// begin waits for the session and prepares it.
func (x *session) begin(ctx context.Context) error {
	select {
	case <-x.begun:
	case <-x.ended:
		return member.ErrEnded
	case <-ctx.Done():
		if refused := x.link.refused.Load(); refused != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), *refused)
		}
		return context.Cause(ctx)
	}
	if x.cfg.User != "" {
		_, err := call(ctx, x, func(c *zk.Conn) (struct{}, error) {
			return struct{}{}, c.AddAuth("digest", []byte(x.cfg.User+":"+x.cfg.Password))
		})
		if err != nil {
			return fmt.Errorf("sign in as %s: %w", x.cfg.User, err)
		}
	}
	return x.makePaths(ctx)
}

// makePaths makes the ring's paths where they are missing.
func (x *session) makePaths(ctx context.Context) error {
	path := ""
	for _, part := range strings.Split(strings.TrimPrefix(x.cfg.nodes(), "/"), "/") {
		path += "/" + part
		if err := x.makePath(ctx, path); err != nil {
			return err
		}
	}
	return x.makePath(ctx, x.cfg.parts())
}

func (x *session) makePath(ctx context.Context, path string) error {
	_, err := call(ctx, x, func(c *zk.Conn) (struct{}, error) {
		there, _, err := c.Exists(path)
		if err == nil && !there {
			_, err = c.Create(path, nil, 0, x.cfg.acl())
		}
		return struct{}{}, err
	})
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return nil
}

// event is called by the library, in order, and must not wait.
func (x *session) event(e zk.Event) {
	switch {
	case e.Type == zk.EventSession && e.State == zk.StateHasSession:
		x.hasSession()
	case e.Type == zk.EventSession && (e.State == zk.StateExpired || e.State == zk.StateAuthFailed):
		x.over(e.State)
	case e.Type == zk.EventSession:
	default:
		x.unwatch(e.Path)
		x.signal()
	}
}

// hasSession: after a reconnection nobody knows which watches the server still has.
func (x *session) hasSession() {
	first := false
	x.beginOnce.Do(func() { first = true })
	if first {
		close(x.begun)
		return
	}
	x.log.Debug("connected again to zookeeper")
	x.tableWatched.Store(false)
	x.nodesWatched.Store(false)
	x.signal()
}

func (x *session) unwatch(path string) {
	switch path {
	case x.cfg.table():
		x.tableWatched.Store(false)
		x.link.watches.And(^tableWatch)
	case x.cfg.nodes():
		x.nodesWatched.Store(false)
		x.link.watches.And(^nodesWatch)
	}
}

func (x *session) signal() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// over ends the session for its user, and the connection with it: the library would begin another session on it.
func (x *session) over(s zk.State) {
	x.endOnce.Do(func() {
		x.log.Debug("session with zookeeper is over", "state", s)
		close(x.ended)
	})
	go x.disconnect()
}

// disconnect ends the connection, once. The library waits up to a second for the server.
func (x *session) disconnect() {
	x.closeOnce.Do(func() {
		x.mu.Lock()
		conn := x.conn
		x.mu.Unlock()
		if conn != nil {
			conn.Close()
		}
	})
}

// Timeout implements member.Session.
func (x *session) Timeout() time.Duration {
	return time.Duration(x.link.granted.Load()) * time.Millisecond
}

// Changed implements member.Session.
func (x *session) Changed() <-chan struct{} { return x.changed }

// Ended implements member.Session.
func (x *session) Ended() <-chan struct{} { return x.ended }

// Close implements member.Session.
func (x *session) Close() error {
	x.endOnce.Do(func() { close(x.ended) })
	x.disconnect()
	return nil
}

// call makes one request and waits for it as long as ctx and the session live. The library has no contexts: an
// abandoned request ends when the library gives up the connection.
func call[T any](ctx context.Context, x *session, request func(c *zk.Conn) (T, error)) (T, error) {
	var none T
	select {
	case <-x.ended:
		return none, member.ErrEnded
	default:
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		v, err := request(x.conn)
		answers <- answer{v, err}
	}()
	select {
	case a := <-answers:
		if a.err == nil {
			select {
			case <-x.ended: // by another session than the one that was asked
				return none, member.ErrEnded
			default:
			}
		}
		return a.value, x.explain(a.err)
	case <-x.ended:
		return none, member.ErrEnded
	case <-ctx.Done():
		return none, fmt.Errorf("zookeeper does not answer: %w", context.Cause(ctx))
	}
}

// explain translates the library's errors.
func (x *session) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrSessionExpired), errors.Is(err, zk.ErrClosing):
		return fmt.Errorf("%w: %w", member.ErrEnded, err)
	case errors.Is(err, zk.ErrNoAuth):
		return fmt.Errorf("%w: zookeeper, user %q: what is there belongs to another user, or the password is wrong; check "+
			"zookeeper.user and zookeeper.password: %w", member.ErrDenied, x.cfg.User, err)
	}
	return err
}

// quiet takes what the library logs about connections, which come and go: it is of use to who looks for it.
type quiet struct{ log *slog.Logger }

// Printf implements zk.Logger.
func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("zookeeper: " + fmt.Sprintf(format, args...))
}
