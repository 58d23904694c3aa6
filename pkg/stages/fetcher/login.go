package fetcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// logins logs jobs in, once a job and site before anything else of its origin is fetched, and again when the session
// is over. What stands about it in the jar of the site is all that the fetchers of a cluster know of each other.
//
// A lease serves a log-in or a page, never both: the lease of a page that has to wait for the log-in is spent on that
// and ends as interrupted, so the page is leased again when its host has had its rest. Between the requests of a log-in
// the host rests as well.
type logins struct {
	h     *Handler
	me    string    // this process, for others
	began time.Time // this process
	// lacking are pages whose answers lacked what the check asks for.
	lacking *lru.Cache[weburl.Key, lack]
}

// lack is how often a page lacked what the check asks for, and the number of the log-in at the last time.
type lack struct {
	login uint64
	times int
}

// Bounds of log-ins.
const (
	failureRest  = time.Hour // until a log-in that failed is tried again
	maxFruitless = 5         // log-ins one after the other without a page that shows the check
	// after the death of a fetcher that was logging in another may begin; renewed meanwhile
	holdFor      = 15 * time.Second
	holdLook     = 200 * time.Millisecond
	maxLacking   = 4096
	maxLacks     = 5 // times that a page may lack the check, where its session may have been over each time
	maxLoginBody = 2 << 20
	maxLoginHops = 5
)

func newLogins(h *Handler) *logins {
	return &logins{h: h, me: rand.Text(), began: time.Now(), lacking: lru.New[weburl.Key, lack](maxLacking, 0)}
}

// gate sees to it that a job is logged in before a page of its login's origin is fetched. ok: it is, or the page needs
// none; number is that of the log-in, 0: none. Otherwise out says what became of the lease.
func (l *logins) gate(ctx context.Context, job *crawl.Job, f *crawl.Fetch,
	out *crawl.Outcome) (number uint64, ok bool, err error) {
	form, err := weburl.Parse(job.Login.URL)
	if err != nil || f.Task.Kind == crawl.KindRobots || f.Task.URL.Origin() != form.Origin() || l.h.jars.of(job) == nil {
		return 0, true, err
	}
	jar, err := l.h.jars.get(ctx, job, form.Hostname())
	if err != nil {
		return 0, false, err
	}
	if jar != nil && inSession(&jar.Login) {
		if f.Task.Kind != crawl.KindPage { // a sitemap shows no sign of who asks for it
			return 0, true, nil
		}
		return jar.Login.Number, true, nil
	}
	if jar != nil && l.givenUp(job, &jar.Login) {
		failed(out, jar.Login.Failure)
		return 0, false, nil
	}
	return 0, false, l.logIn(ctx, job, f, form, out)
}

func inSession(s *crawl.LoginState) bool { return s.Number > 0 && !s.Out }

// givenUp reports whether a log-in that failed is not to be tried again yet: a wrong password would be sent
// with each page. Another revision of the job may have another one, and so may another run of it.
func (l *logins) givenUp(job *crawl.Job, s *crawl.LoginState) bool {
	if s.Failure == "" || s.Epoch != crawl.EpochOf(job.Epoch) || time.Since(s.FailedAt) > failureRest {
		return false
	}
	return !l.h.jars.own || s.FailedAt.After(l.began)
}

// failed is the outcome of a page that is not fetched because the log-in failed.
func failed(out *crawl.Outcome, why string) {
	out.Verdict, out.Reason, out.Detail = crawl.VerdictBlocked, crawl.ReasonLogin, "the log-in did not come about: "+why
}

// waits is the outcome of a page whose lease was spent on a log-in.
func waits(out *crawl.Outcome, detail string) {
	out.Verdict, out.Reason, out.Detail = crawl.VerdictInterrupted, crawl.ReasonLogin, detail
}

// logIn logs in, unless another worker does or did.
func (l *logins) logIn(ctx context.Context, job *crawl.Job, f *crawl.Fetch, form weburl.URL, out *crawl.Outcome) error {
	state, mine, err := l.hold(ctx, job, form)
	switch {
	case err != nil:
		return err
	case !mine && inSession(&state):
		waits(out, "another request has logged in meanwhile")
		return nil
	case !mine:
		failed(out, state.Failure)
		return nil
	}
	run := &loginRun{l: l, job: job, lease: f, out: out, form: form, rest: out.CrawlDelay}
	held, stop := l.holding(ctx, job, form)
	err = run.all(held)
	taken := errors.Is(context.Cause(held), errTakenOver)
	stop()
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), l.release(context.WithoutCancel(ctx), job, form, func(*crawl.LoginState) {}))
	}
	if taken {
		waits(out, errTakenOver.Error())
		return nil
	}
	var refusal loginError
	var fault Fault
	switch {
	case err == nil:
		waits(out, "logged in: the page is fetched now")
		return l.release(ctx, job, form, func(s *crawl.LoginState) {
			*s = crawl.LoginState{Number: s.Number + 1, Fruitless: s.Fruitless + 1}
		})
	case errors.As(err, &refusal):
		failed(out, string(refusal))
		return l.release(ctx, job, form, func(s *crawl.LoginState) {
			s.Failure, s.FailedAt, s.Epoch = string(refusal), time.Now().UTC(), crawl.EpochOf(job.Epoch)
		})
	case errors.As(err, &fault):
		fault.apply(out)
		out.Detail = "log-in: " + out.Detail
		return l.release(ctx, job, form, func(*crawl.LoginState) {})
	}
	return errors.Join(err, l.release(ctx, job, form, func(*crawl.LoginState) {}))
}

// hold waits until this process may log in (mine), or need not, or may not, as state says.
func (l *logins) hold(ctx context.Context, job *crawl.Job,
	form weburl.URL) (state crawl.LoginState, mine bool, err error) {
	for {
		jar, err := l.h.jars.update(ctx, job, form.Hostname(), func(jar *crawl.Jar) bool {
			s := &jar.Login
			tooOften := s.Fruitless >= maxFruitless && !l.givenUp(job, s)
			switch {
			case inSession(s) || l.givenUp(job, s) || l.heldByOther(s):
				mine = false
				return false
			case tooOften && s.Failure == "":
				s.Failure, s.FailedAt, s.Epoch = fmt.Sprintf("after each of %d log-ins the first page was that of somebody who "+
					"is not logged in; is login.check right?", s.Fruitless), time.Now().UTC(), crawl.EpochOf(job.Epoch)
				s.Fruitless, mine = 0, false
				return true
			}
			s.Failure, s.Holder, s.Until, mine = "", l.me, time.Now().Add(holdFor).UTC(), true
			return true
		})
		if err != nil {
			return state, false, err
		}
		if mine || !l.heldByOther(&jar.Login) {
			return jar.Login, mine, nil
		}
		select {
		case <-ctx.Done():
			return state, false, context.Cause(ctx)
		case <-time.After(holdLook):
		}
		if _, err := l.h.jars.fresh(ctx, job, jar.Site); err != nil {
			return state, false, err
		}
	}
}

// heldByOther reports whether another worker logs in. In a directory that can only be a worker of this process: a lock
// that a killed process left does not count.
func (l *logins) heldByOther(s *crawl.LoginState) bool {
	if s.Holder == "" || s.Until.Before(time.Now()) {
		return false
	}
	return s.Holder == l.me || !l.h.jars.own
}

// release ends the log-in of this process.
func (l *logins) release(ctx context.Context, job *crawl.Job, form weburl.URL, change func(*crawl.LoginState)) error {
	_, err := l.h.jars.update(ctx, job, form.Hostname(), func(jar *crawl.Jar) bool {
		if jar.Login.Holder != l.me {
			return false
		}
		change(&jar.Login)
		jar.Login.Holder, jar.Login.Until = "", time.Time{}
		return true
	})
	return err
}

// holding keeps the lock until stop is called. If another process has taken it over, for example while this one was
// frozen, the context ends.
func (l *logins) holding(ctx context.Context, job *crawl.Job, form weburl.URL) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(holdFor / 3)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-tick.C:
				if err := l.renew(held, job, form); err != nil {
					cancel(err)
				}
			}
		}
	}()
	return held, func() { cancel(nil); <-over }
}

var errTakenOver = errors.New("another fetcher has taken over the log-in")

// renew holds on.
func (l *logins) renew(ctx context.Context, job *crawl.Job, form weburl.URL) error {
	lost := false
	_, err := l.h.jars.update(ctx, job, form.Hostname(), func(jar *crawl.Jar) bool {
		lost = jar.Login.Holder != l.me
		jar.Login.Until = time.Now().Add(holdFor).UTC()
		return !lost
	})
	if err == nil && lost {
		err = errTakenOver
	}
	return err
}
