package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// topicalJob has a model, and explores nothing.
func topicalJob(j *crawl.Job) {
	j.TopicModel, j.Topic.Explore = "a model", -1
}

// promising are n tasks a host, of hosts from first on, of which each is as likely as p.
func promising(t *testing.T, first, hosts, n int, p float64) (tasks []crawl.Task) {
	for h := range hosts {
		for i := range n {
			task := page(t, "a", fmt.Sprintf("http://h%d.test/%v/%d", first+h, p, i))
			task.Relevance = crawl.RelevanceOf(p)
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// leasesWith counts the leases so far whose URLs have a text in them, and the others.
func (w *world) leasesWith(text string) (with, others int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.leased {
		if strings.Contains(u.String(), text) {
			with++
		} else {
			others++
		}
	}
	return with, others
}

// Of the hosts of a topical job the one whose pages promise most is asked first; others wait for it, and not for ever.
func TestTheBestHostOfATopicalJobIsAskedFirst(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*crawl.Job)
		best   func(with, others int) bool
	}{
		"others wait": {topicalJob,
			func(with, others int) bool { return with >= 50 && others >= 10 && others <= 40 }},
		"control: no patience": {func(j *crawl.Job) { topicalJob(j); j.Topic.Patience = -1 },
			func(with, others int) bool { return others > 5*with }},
		"control: without topic": {func(*crawl.Job) {}, func(with, others int) bool { return others > 5*with }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tasks := append(promising(t, 1, 10, 100, 0.02), promising(t, 0, 1, 100, 0.9)...)
				w, _ := running(t, tasks, func(_ *world, j *crawl.Job) { c.change(j) })
				time.Sleep(65 * time.Second)
				with, others := w.leasesWith("/0.9/")
				if w.stop(); !c.best(with, others) {
					t.Errorf("%d pages of the best host, and %d of the ten others", with, others)
				}
			})
		})
	}
}

// A host that rests, or is held, lets no other wait; and all pages are fetched in the end.
func TestNoHostWaitsForOneThatCannotBeAsked(t *testing.T) {
	for name, hinder := range map[string]func(w *world){
		"held":        func(w *world) { w.f.HoldHost("h0.test", true) },
		"Retry-After": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tasks := append(promising(t, 0, 1, 40, 0.9), promising(t, 1, 4, 40, 0.02)...)
				began := time.Now()
				w, _ := running(t, nil, func(w *world, j *crawl.Job) {
					topicalJob(j)
					w.answer = func(w *world, f *crawl.Fetch) reply {
						r := fine(w, f)
						if name != "held" && f.Task.URL.HostKey() == "h0.test" && time.Since(began) < time.Minute {
							r.outcome.Verdict, r.outcome.Status, r.outcome.Slow, r.outcome.RetryAfter = crawl.VerdictRetry, 503, true,
								10*time.Minute
						}
						return r
					}
				})
				hinder(w)
				w.add(tasks...)
				time.Sleep(60 * time.Second)
				if _, others := w.leasesWith("/0.9/"); others < 140 {
					t.Errorf("%d pages of four hosts in a minute, while the best cannot be asked", others)
				}
				w.f.HoldHost("h0.test", false)
				w.finish()
				w.stop()
			})
		})
	}
}

// What is found later and promises more is leased before what was drawn already, after a crash as well.
func TestWhatPromisesMorePassesWhatWasDrawn(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("after a crash: %v", crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _ := running(t, promising(t, 0, 1, 3000, 0.01), func(_ *world, j *crawl.Job) { topicalJob(j) })
				time.Sleep(30 * time.Second)
				w.add(promising(t, 0, 1, 600, 0.03)...)
				time.Sleep(10 * time.Second)
				w.add(promising(t, 0, 1, 50, 0.5)...)
				if crash {
					w.crash()
					w.begin()
				}
				before := w.fetched()
				time.Sleep(60 * time.Second)
				best, _ := w.leasesWith("/0.5/")
				if n := w.fetched() - before; best < 45 || n > best+12 {
					t.Errorf("%d of the 50 best pages among %d leases", best, n)
				}
				w.finish()
				w.stop()
				if len(w.late) > 0 {
					t.Errorf("%d pages were leased after they were done", len(w.late))
				}
			})
		})
	}
}

// Links that were found before the job had a model go by what their texts promise once it has one.
func TestLinksFromBeforeTheModelAreScored(t *testing.T) {
	for _, scored := range []bool{true, false} {
		t.Run(fmt.Sprintf("scored: %v", scored), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tasks := pages(t, "a", 1, 900)
				for i := range tasks {
					if tasks[i].Text = "other"; i >= 860 {
						tasks[i].Text = "good"
					}
				}
				w, r := running(t, tasks, func(w *world, j *crawl.Job) {
					j.TopicExamples, j.Topic.Explore = "some", -1
					if scored {
						w.promise = func(_ *crawl.Job, t *crawl.Task) (crawl.Relevance, error) {
							return crawl.RelevanceOf(map[string]float64{"good": 0.8, "other": 0.01}[t.Text]), nil
						}
					}
				})
				time.Sleep(10 * time.Second)
				w.f.SetJob(r.revise(func(j *crawl.Job) { j.TopicModel = "a model" }))
				before := w.fetched()
				time.Sleep(45 * time.Second)
				good, n := 0, w.fetched()
				for _, f := range w.fetches[before:n] {
					var at int
					if _, err := fmt.Sscanf(f.Task.URL.Path(), "/%d", &at); err == nil && at >= 860 {
						good++
					}
				}
				if scored != (good >= 35) {
					t.Errorf("%d good pages among %d after the model", good, n-before)
				}
				w.finish()
				w.stop()
			})
		})
	}
}

// A host at which another job has pages does not wait for a better one of the topical job.
func TestAnotherJobDoesNotWaitForTheBestHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := aJob("a")
		topicalJob(a)
		w := newWorld(t, 1, a, aJob("b"))
		w.begin()
		w.add(append(promising(t, 0, 1, 300, 0.9), promising(t, 1, 1, 300, 0.01)...)...)
		time.Sleep(10 * time.Second)
		var tasks []crawl.Task
		for i := range 30 {
			tasks = append(tasks, page(t, "b", fmt.Sprintf("http://h1.test/b%d", i)))
		}
		w.add(tasks...)
		time.Sleep(65 * time.Second)
		if n, _ := w.leasesWith("/b"); n < 25 {
			t.Errorf("%d pages of the other job", n)
		}
		w.stop()
	})
}
