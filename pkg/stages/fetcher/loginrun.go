package fetcher

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/forms"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// loginError is why a log-in failed though the site answered: to try again at once would not help.
type loginError string

// Error implements error.
func (f loginError) Error() string { return string(f) }

// loginRun is one log-in. It makes its requests one after the other under the lease of a page of the same origin, and
// rests between them as the frontier would have the host rest.
type loginRun struct {
	l     *logins
	job   *crawl.Job
	lease *crawl.Fetch
	out   *crawl.Outcome // of the lease: when the host was contacted last
	form  weburl.URL
	rest  time.Duration // Crawl-delay
}

// loginPage is an answer.
type loginPage struct {
	at     weburl.URL
	status int
	header http.Header
	body   []byte
	page   *forms.Page // nil: no HTML
}

// all fetches the form, sends it filled in, and looks whether that helped. An error that is neither a loginError
// nor a Fault is a fault of ours.
func (r *loginRun) all(ctx context.Context) error {
	first, err := r.follow(ctx, r.form, nil, "")
	if err != nil {
		return err
	}
	if first.status/100 != 2 || first.page == nil {
		return loginError(fmt.Sprintf("%s answered %d and no page with a form", r.form, first.status))
	}
	target, filled, err := r.fill(first)
	if err != nil {
		return err
	}
	last, err := r.follow(ctx, target, filled, first.at.String())
	if err != nil {
		return err
	}
	if check := r.job.Login.Check.URL; check != "" {
		u, err := weburl.Parse(check)
		if err != nil {
			return loginError(err.Error())
		}
		if last, err = r.follow(ctx, u, nil, ""); err != nil {
			return err
		}
	}
	return r.verdict(last)
}

// verdict judges the page that comes after the form.
func (r *loginRun) verdict(p *loginPage) error {
	c := &r.job.Login.Check
	switch {
	case p.status/100 != 2:
		return loginError(fmt.Sprintf("%s answered %d after the form was sent", cut(p.at.String()), p.status))
	case c.Any() && (p.page == nil || !shows(c, p.page)):
		return loginError(cut(p.at.String()) +
			" does not show what login.check asks for after the form was sent; are the fields right?")
	case !c.Any() && p.page != nil && p.page.AsksForPassword():
		return loginError(cut(p.at.String()) + " asks for a password after the form was sent; are the fields right?")
	}
	return nil
}

// shows reports whether a page shows what the check asks for.
func shows(c *crawl.LoginCheck, p *forms.Page) bool {
	return (c.CSS == "" || p.Matches(c.CSS)) && (c.Text == "" || p.Contains(c.Text)) &&
		(c.NotCSS == "" || !p.Matches(c.NotCSS)) && (c.NotText == "" || !p.Contains(c.NotText))
}

// fill finds the form and fills in what the job says; the rest, hidden fields and tokens, it leaves as it came.
func (r *loginRun) fill(p *loginPage) (target weburl.URL, filled []byte, err error) {
	f, err := p.page.Find(r.job.Login.Form)
	if err != nil {
		return target, nil, loginError(p.at.String() + ": " + err.Error())
	}
	if !f.Post {
		return target, nil, loginError("the form is sent by GET, which would put the password into a URL")
	}
	if f.Action.Origin() != r.form.Origin() {
		return target, nil, loginError("the form leads to " + f.Action.Origin() + ", and what is filled in goes to " +
			r.form.Origin() + " only")
	}
	values := f.Values
	for name, ref := range r.job.Login.Fields {
		if !f.Has(name) {
			return target, nil, loginError(fmt.Sprintf("the form has no field %q, which login.fields fills in", name))
		}
		value, err := secret.Resolve(ref)
		if err != nil {
			return target, nil, secretFault("login.fields."+name, err)
		}
		values.Set(name, value)
	}
	return f.Action, []byte(values.Encode()), nil
}

// follow makes a request and follows redirects within the origin.
func (r *loginRun) follow(ctx context.Context, u weburl.URL, form []byte, referrer string) (*loginPage, error) {
	for range maxLoginHops + 1 {
		p, err := r.ask(ctx, u, form, referrer)
		if err != nil {
			return nil, err
		}
		if classify(p.status) != classRedirect {
			return p, nil
		}
		if form != nil && (p.status == http.StatusTemporaryRedirect || p.status == http.StatusPermanentRedirect) {
			return nil, loginError(fmt.Sprintf("%s answered %d: the form would have to be sent once more", cut(u.String()),
				p.status))
		}
		target, err := u.Resolve(p.header.Get("Location"))
		if err != nil || target.Origin() != r.form.Origin() {
			return nil, loginError(fmt.Sprintf("%s leads away from %s, to which the log-in is bound", cut(u.String()),
				r.form.Origin()))
		}
		u, form, referrer = target, nil, u.String()
	}
	return nil, loginError(fmt.Sprintf("more than %d redirects", maxLoginHops))
}

// ask makes one request, when the host has had its rest and its robots.txt permits it.
func (r *loginRun) ask(ctx context.Context, u weburl.URL, form []byte, referrer string) (*loginPage, error) {
	if err := r.permitted(ctx, u); err != nil {
		return nil, err
	}
	if err := r.pause(ctx); err != nil {
		return nil, err
	}
	h, task := r.l.h, &crawl.Task{Job: r.job.ID, URL: u, Epoch: r.job.Epoch}
	req := Request{Job: r.job, Task: task, Addr: r.lease.Addr, Private: h.private(r.job), Form: form}
	var err error
	if req.Header, err = h.personal(ctx, r.job, u, true); err != nil {
		return nil, err
	}
	if referrer != "" {
		req.Header = or(req.Header)
		req.Header["Referer"] = []string{referrer}
		if form != nil {
			req.Header["Origin"] = []string{u.Origin()}
		}
	}
	a := &attempt{job: r.job, task: task, out: &crawl.Outcome{Task: *task}}
	defer r.note(a)
	defer a.finish()
	if err := a.send(ctx, h.client, req); err != nil {
		return nil, diagnose(err)
	}
	if _, err := h.keepCookies(ctx, r.job, u, a.answer.Header); err != nil {
		return nil, err
	}
	return r.read(a)
}

func or(h http.Header) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h
}

// read reads an answer.
func (r *loginRun) read(a *attempt) (*loginPage, error) {
	c := classify(a.out.Status)
	if c == classRetry || c == classSlow || c == classBroken || c == classPart {
		c.settle(a.out)
		a.askedToWait()
		r.out.Slow, r.out.RetryAfter = a.out.Slow, a.out.RetryAfter
		return nil, Fault{crawl.VerdictRetry, a.out.Reason, a.out.Detail}
	}
	b, err := a.body(maxLoginBody)
	if err != nil {
		return nil, loginError(a.task.URL.String() + ": " + err.Error())
	}
	defer b.release()
	b.keep()
	if _, err := io.Copy(io.Discard, b); err != nil {
		return nil, diagnose(err)
	}
	p := &loginPage{at: a.task.URL, status: a.out.Status, header: a.answer.Header, body: b.kept()}
	if value := a.answer.Header.Get("Content-Type"); value == "" || isHTML(mediaType(value)) {
		if p.page, err = forms.Parse(p.body, value, p.at); err != nil {
			return nil, loginError(p.at.String() + ": " + err.Error())
		}
	}
	return p, nil
}

func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// note notes in the outcome of the lease when the host was contacted.
func (r *loginRun) note(a *attempt) {
	if a.out.Started.IsZero() {
		return
	}
	r.out.Started, r.out.Ended, r.out.FirstByte, r.out.Addr = a.out.Started, a.out.Ended, a.out.FirstByte, a.out.Addr
	r.out.Status = a.out.Status
}

// pause lets the host rest since the request before, as long as the frontier would.
func (r *loginRun) pause(ctx context.Context) error {
	if r.out.Ended.IsZero() {
		return nil // the lease is the permission for the first
	}
	p := &r.job.Politeness
	rest := crawl.Rest{Ended: r.out.Ended, Took: r.out.Ended.Sub(r.out.Started)}
	wait := rest.By(r.job, max(p.Delay.D(), min(r.rest, p.MaxCrawlDelay.D())))
	timer := time.NewTimer(time.Until(r.out.Ended.Add(wait)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// permitted asks robots.txt.
func (r *loginRun) permitted(ctx context.Context, u weburl.URL) error {
	if r.job.IgnoreRobots || r.job.Login.IgnoreRobots {
		return nil
	}
	task, out := crawl.Task{Job: r.job.ID, URL: u}, &crawl.Outcome{}
	ok, err := r.l.h.permitted(ctx, r.job, &task, out)
	switch {
	case err != nil || ok:
		return err
	case out.Verdict == crawl.VerdictBlocked && out.Reason == crawl.ReasonRobots:
		return loginError(u.String() + ": " + out.Detail + "; login.ignore_robots permits it for the log-in alone")
	}
	return Fault{out.Verdict, out.Reason, out.Detail}
}
