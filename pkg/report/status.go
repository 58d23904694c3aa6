package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// State says what a crawl does at the moment.
type State string

// The states of a crawl.
const (
	StateRunning  State = "running"
	StatePaused   State = "paused"   // it runs, but leases nothing
	StateStopped  State = "stopped"  // no process runs it; there is work left
	StateFinished State = "finished" // no process runs it; it waits for nothing that is left, or the page budget is spent
)

// Status is a crawl at a moment.
type Status struct {
	Directory string `json:"directory,omitempty"`
	// instead of a directory
	Cluster string      `json:"cluster,omitempty"`
	Job     crawl.JobID `json:"job"`
	Seeds   []string    `json:"seeds"`
	// further seeds: a file, or "-"
	SeedList string `json:"seed_list,omitempty"`
	State    State  `json:"state"`
	// why the state is paused; empty: it is a user's wish
	PausedFor string    `json:"paused_for,omitempty"`
	Time      time.Time `json:"time"`
	// of the process that runs it; of a cluster's job, when it was submitted
	Started time.Time `json:"started,omitzero"`
	// of a cluster's job
	Ended time.Time `json:"ended,omitzero"`
	Pages int64     `json:"pages"`
	// 0: no limit
	MaxPages int `json:"max_pages"`
	// of max_bytes and max_time; nil: the job has neither
	Spent *Spent `json:"spent,omitempty"`
	// nil: the job was never revised
	Revision *RevisionStatus `json:"revision,omitempty"`
	Rate     float64         `json:"pages_per_second,omitempty"`
	// URLs that were to be fetched, ever
	Claimed int64 `json:"claimed"`
	// of them, those without outcome: queued or in flight
	Open int64 `json:"open"`
	// Queued, InFlight, ActiveHosts, Waiting and DeadLetters of a cluster are those of all jobs: a broker does not
	// count by jobs.
	// retries that wait included
	Queued int64 `json:"queued"`
	// of a stopped crawl: leased again when it goes on
	InFlight    int64 `json:"in_flight"`
	ActiveHosts int   `json:"active_hosts"`
	Waiting     int64 `json:"retries_waiting"`
	shut        int64 // of them those that have an outcome for the time being
	// when the next waiting host may be contacted
	NextDue time.Time `json:"next_due,omitzero"`
	// final outcomes
	Verdicts map[string]int64 `json:"verdicts"`
	// final outcomes by HTTP status; 0: no answer
	Statuses map[int]int64 `json:"statuses"`
	// URLs left out, by reason
	Excluded    map[string]int64 `json:"excluded"`
	DeadLetters int64            `json:"dead_letters"`
	Files       []File           `json:"files,omitempty"`
	// that the page store of a cluster holds
	Records int64 `json:"records,omitempty"`
	// RecordsUnknown says why Records is not known; empty: it is.
	RecordsUnknown string    `json:"records_unknown,omitempty"`
	Pipeline       *Pipeline `json:"pipeline,omitempty"`
	// Render is what renders brought; nil: nothing was rendered.
	Render *Rendering `json:"render,omitempty"`
	// Freshness is how fresh the pages of a continuous job are; nil: each URL is visited once.
	Freshness *crawl.Freshness `json:"freshness,omitempty"`
	// how far what the crawl delivers is; that of a directory
	Outputs []Delivered `json:"outputs,omitempty"`
	// Reasons tells outcomes and exclusions apart by verdict and reason, the most frequent first; only where they were
	// asked for.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason counts URLs that ended in one way for one reason.
type Reason struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	URLs    int64  `json:"urls"`
}

// File is an output of the crawl with its size; that of a directory is the sum of its files'.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Status implements View.
func (c *Crawl) Status(ctx context.Context) (*Status, error) {
	now, err := c.present(ctx)
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	tally, err := c.src.Ledger.Tally(ctx, c.src.Job.ID)
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	s := &Status{Directory: c.src.Dir, Job: now.job.ID, Seeds: now.job.Seeds, SeedList: now.job.SeedList, Time: c.now(),
		Pages: tally.Pages, MaxPages: now.job.MaxPages, Claimed: tally.Claimed, Open: openOf(tally), Verdicts: tally.Verdicts,
		Statuses: tally.Statuses, Excluded: tally.Excluded}
	if c.src.Live == nil {
		if s.Freshness, err = freshnessOf(ctx, c.src.Revisits, now.job, c.now()); err != nil {
			return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
		}
	}
	if s.Spent, err = spentOf(ctx, c.src.Spending, now.job); err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	if s.Render, err = renderingOf(ctx, c.src.Templates, now.job.ID, tally); err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	if err := c.history.tell(ctx, s); err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	if s.DeadLetters, err = c.src.Dead.Count(ctx); err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	if c.src.Live != nil {
		s.live(c.src.Live())
	} else if err := errors.Join(c.stopped(ctx, s, now.job), c.deliveries(ctx, s, now.job)); err != nil {
		return nil, fmt.Errorf("status of %s: %w", c.src.Dir, err)
	}
	s.Files, err = outputs(c.src.Dir)
	return s, err
}

func (s *Status) live(m Moment) {
	s.State, s.Started, s.Rate, s.Freshness = StateRunning, m.Started, m.Rate, m.Freshness
	s.Outputs = m.Outputs
	if m.Paused {
		s.State, s.PausedFor = StatePaused, strings.Map(visible, m.Why)
	}
	f := m.Frontier
	s.Queued, s.InFlight, s.ActiveHosts, s.Waiting, s.NextDue = f.Queued, int64(f.InFlight), f.ActiveHosts, f.Waiting,
		f.NextDue
}

// visible is a character that does nothing to a terminal: a program may have written it.
func visible(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// stopped fills in what a crawl that does not run will find when it goes on.
func (c *Crawl) stopped(ctx context.Context, s *Status, job *crawl.Job) error {
	lengths, err := c.src.Queues.Lengths(ctx)
	if err != nil {
		return err
	}
	for name, n := range lengths {
		s.Queued += n
		if q, err := crawl.ParseQueueName(name); err == nil && q.Kind == crawl.QueueLater {
			s.Waiting += n
			if q.Shut() {
				s.shut += n
			}
		}
	}
	messages := 0
	err = c.src.Journal.Load(ctx, func(_ uint64, m bus.Message) error {
		messages++
		if m.Event.Topic() == crawl.TopicFetch {
			s.InFlight++
		}
		return nil
	})
	s.State = StateStopped
	spent := s.MaxPages > 0 && s.Pages >= int64(s.MaxPages) || s.Spent.met() != ""
	swept := s.Revision == nil || !s.Revision.due
	rests := s.Queued == s.shut && swept && !job.Revisits() // a continuous one waits for its next visits
	if messages == 0 && s.Claimed > 0 && (rests || spent) {
		s.State = StateFinished
	}
	return err
}

// outputs lists what the directory holds.
func outputs(dir string) ([]File, error) {
	var files []File
	for _, name := range []string{"pages.jsonl", "pages.jsonl.zst", "crawl.log", "warc", "state"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		n, err := TreeSize(path)
		if err != nil {
			return nil, fmt.Errorf("size of %s: %w", path, err)
		}
		files = append(files, File{Name: name, Bytes: n})
	}
	return files, nil
}

// TreeSize adds up the files under a path. Files that vanish meanwhile, or a path that does not exist, do not count.
func TreeSize(root string) (n int64, err error) {
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				n += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return n, err
}
