package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of what is kept compiled. Revisions that no message has needed for longest go first.
const (
	maxCompiled = 64
	maxStates   = 4096
)

type key struct {
	job   crawl.JobID
	epoch uint32
}

// compiled are the nodes of a revision of a job.
type compiled struct {
	key   key
	job   *crawl.Job
	ready chan struct{} // closed when nodes, or err, are there
	nodes []*node
	err   error

	users int    // messages that pass it; guarded by Runner.mu
	last  uint64 // when it was used last; guarded by Runner.mu
}

// node is a node of a job, compiled.
type node struct {
	spec    crawl.PluginNode
	when    Condition // nil: always
	timeout time.Duration
	serves  plugin.Serves
	inst    *instance
	state   *state
}

func (n *node) onError() crawl.OnError {
	if n.spec.OnError == "" {
		return crawl.OnErrorPass
	}
	return n.spec.OnError
}

// instanceKey is what makes an instance: nodes of several revisions that have the same share one.
type instanceKey struct {
	use, digest string
	at          crawl.Point
	with        string
}

// instance is an instance in use; users is guarded by Runner.mu.
type instance struct {
	plugin.Instance
	key   instanceKey
	users int
}

// acquire returns the nodes of a revision. release it.
func (r *Runner) acquire(ctx context.Context, job *crawl.Job) (*compiled, error) {
	k := key{job.ID, crawl.EpochOf(job.Epoch)}
	r.mu.Lock()
	c := r.compiled[k]
	// a job that was deleted and submitted again is another one
	fresh := c == nil || c.job != job && !sameNodes(c.job, job)
	if fresh {
		r.forget(c)
		c = &compiled{key: k, job: job, ready: make(chan struct{})}
		r.compiled[k] = c
		r.shrink()
	}
	c.users++
	r.used++
	c.last = r.used
	r.mu.Unlock()
	if fresh {
		c.nodes, c.err = r.compile(ctx, job)
		close(c.ready)
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		r.release(c)
		return nil, context.Cause(ctx)
	}
	if c.err != nil {
		r.drop(c)
		return nil, c.err
	}
	return c, nil
}

func sameNodes(a, b *crawl.Job) bool {
	x, errX := json.Marshal(a.Pipeline)
	y, errY := json.Marshal(b.Pipeline)
	return errX == nil && errY == nil && string(x) == string(y)
}

// release ends a use.
func (r *Runner) release(c *compiled) {
	r.mu.Lock()
	c.users--
	gone := c.users == 0 && r.compiled[c.key] != c
	r.mu.Unlock()
	if gone {
		r.close(c)
	}
}

// drop takes out what could not be compiled, so that the next message tries again.
func (r *Runner) drop(c *compiled) {
	r.mu.Lock()
	if r.compiled[c.key] == c {
		delete(r.compiled, c.key)
	}
	r.mu.Unlock()
	r.release(c)
}

// forget takes c out; nil: nothing. r.mu is held.
func (r *Runner) forget(c *compiled) {
	if c == nil {
		return
	}
	delete(r.compiled, c.key)
	if c.users == 0 {
		r.closing.Go(func() { r.close(c) })
	}
}

// shrink forgets the revision that was not needed for longest, where there are too many. r.mu is held.
func (r *Runner) shrink() {
	for len(r.compiled) > maxCompiled {
		var oldest *compiled
		for _, c := range r.compiled {
			if c.users == 0 && c.last > 0 && (oldest == nil || c.last < oldest.last) {
				oldest = c
			}
		}
		if oldest == nil {
			return
		}
		r.forget(oldest)
	}
}

// close gives back the instances of nodes that nobody uses.
func (r *Runner) close(c *compiled) {
	<-c.ready
	for _, n := range c.nodes {
		r.giveBack(n.inst)
	}
}

func (r *Runner) giveBack(i *instance) {
	r.mu.Lock()
	i.users--
	last := i.users == 0
	if last {
		delete(r.instances, i.key)
	}
	r.mu.Unlock()
	if !last {
		return
	}
	if err := i.Close(); err != nil {
		r.cfg.Log.Warn("a plug-in could not be closed", "plugin", i.key.use, "error", err)
	}
}

// compile makes the nodes of a job. The work goes on when the message that began it is given up: others wait for it.
func (r *Runner) compile(ctx context.Context, job *crawl.Job) (nodes []*node, err error) {
	ctx = context.WithoutCancel(ctx)
	for i := range job.Pipeline.Nodes {
		n, err := r.node(ctx, job, &job.Pipeline.Nodes[i])
		if err != nil {
			for _, made := range nodes {
				r.giveBack(made.inst)
			}
			return nil, fmt.Errorf("pipeline.nodes[%d] (%s): %w", i, job.Pipeline.Nodes[i].ID, err)
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func (r *Runner) node(ctx context.Context, job *crawl.Job, spec *crawl.PluginNode) (*node, error) {
	n := &node{spec: *spec}
	if spec.When != "" {
		when, err := r.cfg.When(spec.At, spec.When)
		if err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		n.when = when
	}
	p, err := r.cfg.Source.Plugin(ctx, spec.Use, spec.Digest)
	if err != nil {
		return nil, err
	}
	d := p.Descriptor()
	serves, ok := d.ServesAt(spec.At)
	if !ok {
		return nil, fmt.Errorf("at: %s does not serve the point %s", spec.Use, spec.At)
	}
	n.serves, n.timeout = serves, timeoutOf(spec, d)
	if n.inst, err = r.instance(ctx, p, spec); err != nil {
		return nil, err
	}
	n.state = r.stateOf(stateKey{job.ID, spec.ID, spec.At, spec.Use, spec.Digest})
	return n, nil
}

// defaultTimeout is a call's where neither node nor plug-in say another.
const defaultTimeout = 50 * time.Millisecond

func timeoutOf(spec *crawl.PluginNode, d *plugin.Descriptor) time.Duration {
	for _, t := range []time.Duration{spec.Timeout.D(), d.Limits.Timeout.D()} {
		if t > 0 {
			return min(t, crawl.MaxPluginTime)
		}
	}
	return defaultTimeout
}

// instance returns the instance of a node, which nodes with the same settings share.
func (r *Runner) instance(ctx context.Context, p plugin.Plugin, spec *crawl.PluginNode) (*instance, error) {
	with, err := json.Marshal(spec.With)
	if err != nil {
		return nil, fmt.Errorf("with: %w", err)
	}
	k := instanceKey{spec.Use, spec.Digest, spec.At, string(with)}
	if i := r.known(k); i != nil {
		return i, nil
	}
	made, err := p.Configure(ctx, spec.At, spec.With)
	if err != nil {
		if bad := (*plugin.ConfigError)(nil); errors.As(err, &bad) && bad.Path != "" {
			return nil, fmt.Errorf("with.%w", err)
		}
		return nil, fmt.Errorf("with: %w", err)
	}
	r.mu.Lock()
	i := r.instances[k]
	if i == nil {
		i = &instance{Instance: made, key: k}
		r.instances[k] = i
		made = nil
	}
	i.users++
	r.mu.Unlock()
	if made != nil { // another message was faster
		err = made.Close()
	}
	return i, err
}

func (r *Runner) known(k instanceKey) *instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.instances[k]
	if i != nil {
		i.users++
	}
	return i
}

// Close gives back what all jobs hold. No message passes then.
func (r *Runner) Close() error {
	r.mu.Lock()
	all := make([]*compiled, 0, len(r.compiled))
	for _, c := range r.compiled {
		all = append(all, c)
	}
	clear(r.compiled)
	r.mu.Unlock()
	for _, c := range all {
		r.close(c)
	}
	r.closing.Wait()
	return nil
}
