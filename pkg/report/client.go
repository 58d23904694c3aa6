package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ErrNotRunning is returned by Dial when no crawl runs in the directory.
var ErrNotRunning = errors.New("no crawl runs in the directory")

// ErrEnded is returned by the methods of a Client when the crawl ended before it answered.
var ErrEnded = errors.New("it ended before it answered: give the command again")

// Client asks a crawl that runs.
type Client struct {
	dir  string
	http *http.Client
}

// Dial reaches the crawl that runs in dir; ErrNotRunning if none answers. One that is suspended is another error.
func Dial(ctx context.Context, dir string) (*Client, error) {
	knock, err := knocker(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return knock(ctx) }
	conn, err := knock(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, errors.Join(ErrNotRunning, ctx.Err()))
	}
	err = suspended(conn)
	_ = conn.Close() // it was a knock
	if err != nil {
		return nil, fmt.Errorf("the crawl that runs in %s does not answer: %w", dir, err)
	}
	return &Client{dir: dir, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}},
		nil
}

// Status implements View.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	s := new(Status)
	return s, c.ask(ctx, http.MethodGet, pathStatus, s)
}

// Explain implements View.
func (c *Client) Explain(ctx context.Context, rawURL string) (*Explanation, error) {
	e := new(Explanation)
	return e, c.ask(ctx, http.MethodGet, pathExplain+"?url="+url.QueryEscape(rawURL), e)
}

// Letters implements View.
func (c *Client) Letters(ctx context.Context) (l []Letter, err error) {
	return l, c.ask(ctx, http.MethodGet, pathLetters, &l)
}

// Audit implements View.
func (c *Client) Audit(ctx context.Context) (*crawl.AuditReport, error) {
	r := new(crawl.AuditReport)
	return r, c.ask(ctx, http.MethodGet, pathAudit, r)
}

// Pause stops or resumes the crawl's leasing.
func (c *Client) Pause(ctx context.Context, paused bool) error {
	if paused {
		return c.ask(ctx, http.MethodPost, pathPause, new(done))
	}
	return c.ask(ctx, http.MethodPost, pathResume, new(done))
}

// Stop asks the crawl to finish what is in flight and end. It does not wait for the end.
func (c *Client) Stop(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, pathStop, new(done))
}

// Job returns the job as it is now.
func (c *Client) Job(ctx context.Context) (*crawl.Job, error) {
	var current struct {
		Epoch uint32          `json:"epoch"`
		Job   json.RawMessage `json:"job"`
	}
	if err := c.ask(ctx, http.MethodGet, pathJob, &current); err != nil {
		return nil, err
	}
	return crawl.DecodeJob(current.Job, current.Epoch)
}

// Revise makes a specification of the job the one that applies from the next lease on.
func (c *Client) Revise(ctx context.Context, job *crawl.Job) (*Revised, error) {
	data, err := crawl.EncodeJob(job)
	if err != nil {
		return nil, err
	}
	r := new(Revised)
	return r, c.send(ctx, http.MethodPost, pathJob, bytes.NewReader(data), r)
}

func (c *Client) ask(ctx context.Context, method, path string, answer any) error {
	return c.send(ctx, method, path, nil, answer)
}

func (c *Client) send(ctx context.Context, method, path string, content io.Reader, answer any) error {
	// The host of the URL is not looked up: every request goes to the socket.
	req, err := http.NewRequestWithContext(ctx, method, "http://whirlpool"+path, content)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return c.unanswered(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, answer); err != nil {
			return fmt.Errorf("answer of the crawl that runs in %s: %w", c.dir, err)
		}
		return nil
	}
	var f failure
	if json.Unmarshal(body, &f) != nil || f.Error == "" {
		f.Error = resp.Status
	}
	if resp.StatusCode == http.StatusBadRequest {
		return fmt.Errorf("%w: %s", ErrURL, f.Error)
	}
	return fmt.Errorf("the crawl that runs in %s: %s", c.dir, f.Error)
}

// unanswered is the error of a request that got no answer. Only the crawl closes its socket.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		err = fmt.Errorf("%w (%w)", ErrEnded, err)
	}
	return fmt.Errorf("ask the crawl that runs in %s: %w", c.dir, err)
}
