package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// ask is a request that a page of the studio makes; body: it is a POST.
type ask struct {
	page, path string
	query      url.Values
	body       any
}

// answers measures all requests of all pages while a crawl runs.
func (b *serveBench) answers(ctx context.Context) error {
	return b.with(ctx, func(s *servedChild, c *client.Client) error {
		live, err := b.runLive(ctx, c)
		if err != nil {
			return err
		}
		before, err := s.pages(ctx, live)
		if err != nil {
			return err
		}
		asks, err := s.asksOf(ctx, live)
		if err != nil {
			return err
		}
		began := time.Now()
		fmt.Fprintf(b.out, "%-12s %-78s %8s %8s %8s %8s %9s\n", "page", "request", "first", "p50 ms", "p95 ms", "max ms",
			"bytes")
		for _, a := range asks {
			if err := b.measure(ctx, s, a); err != nil {
				return err
			}
		}
		after, err := s.pages(ctx, live)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "meanwhile %s fetched %.0f pages a second\n", live,
			float64(after-before)/time.Since(began).Seconds())
		return b.cancelLive(ctx, c)
	})
}

// runLive starts a crawl without an end, and waits until it has some pages.
func (b *serveBench) runLive(ctx context.Context, c *client.Client) (crawl.JobID, error) {
	e, err := c.Run(ctx, liveFlow, workflow.Overrides{})
	if err != nil {
		return "", err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		now, err := c.Execution(ctx, e.ID)
		if err != nil || now.Progress != nil && now.Progress.Pages > int64(b.pages/50) {
			return e.ID, err
		}
		if now.State.Ended() {
			return "", fmt.Errorf("%s ended: %s", e.ID, now.Reason)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}

// pages is how many pages an execution has.
func (s *servedChild) pages(ctx context.Context, id crawl.JobID) (int64, error) {
	e, err := s.client.Execution(ctx, id)
	if err == nil && (e.State.Ended() || e.Progress == nil) {
		err = fmt.Errorf("%s has ended: the web is too small for the measurement", id)
	}
	if err != nil {
		return 0, err
	}
	return e.Progress.Pages, nil
}

// measure makes a request many times, one after the other.
func (b *serveBench) measure(ctx context.Context, s *servedChild, a ask) error {
	var took []time.Duration
	var size int
	for range b.asks + 1 {
		began := time.Now()
		n, err := s.do(ctx, a)
		if err != nil {
			return fmt.Errorf("%s %s: %w", a.page, a.name(), err)
		}
		took, size = append(took, time.Since(began)), n
		time.Sleep(5 * time.Millisecond)
	}
	first, rest := took[0], slices.Sorted(slices.Values(took[1:]))
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	mark := ""
	if p95 := rest[len(rest)*19/20]; max(p95, first) > 200*time.Millisecond {
		mark = "  over 200 ms"
	}
	fmt.Fprintf(b.out, "%-12s %-78s %8.1f %8.1f %8.1f %8.1f %9d%s\n", a.page, a.name(), ms(first), ms(rest[len(rest)/2]),
		ms(rest[len(rest)*19/20]), ms(rest[len(rest)-1]), size, mark)
	return nil
}

func (a *ask) name() string {
	name, _ := url.QueryUnescape(a.path + "?" + a.query.Encode())
	return fmt.Sprintf("%.78s", strings.TrimSuffix(name, "?"))
}

// do makes a request and reads the answer.
func (s *servedChild) do(ctx context.Context, a ask) (size int, err error) {
	data, err := s.read(ctx, a)
	return len(data), err
}

func (s *servedChild) read(ctx context.Context, a ask) ([]byte, error) {
	method, content := http.MethodGet, io.Reader(http.NoBody)
	if a.body != nil {
		text, err := json.Marshal(a.body)
		if err != nil {
			return nil, err
		}
		method, content = http.MethodPost, bytes.NewReader(text)
	}
	to := s.at.URL + "/api/v1" + a.path
	if len(a.query) > 0 {
		to += "?" + a.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, to, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.at.Key)
	req.Header.Set("Accept", "application/json")
	if a.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", resp.StatusCode, data)
	}
	return data, err
}

// readInto makes a request and decodes the answer.
func (s *servedChild) readInto(ctx context.Context, path string, query url.Values, into any) error {
	data, err := s.read(ctx, ask{path: path, query: query})
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// indexed waits until all of an ended execution is in its index.
func (s *servedChild) indexed(ctx context.Context, id string) (*explore.Index, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		var index explore.Index
		if err := s.readInto(ctx, "/executions/"+id+"/index", nil, &index); err != nil {
			return nil, err
		}
		if !index.Building && index.Share == 1 {
			return &index, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
