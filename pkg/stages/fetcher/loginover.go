package fetcher

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/forms"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// refused reports whether an answer says that the crawler is not logged in: a redirect to the page with the form, or
// 401.
func (l *logins) refused(a *attempt, c class) bool {
	if a.out.Status == 401 {
		return true
	}
	if c != classRedirect {
		return false
	}
	form, err := weburl.Parse(a.job.Login.URL)
	if err != nil {
		return false
	}
	target, err := location(a)
	return err == nil && target.Origin() == form.Origin() && target.Path() == form.Path() &&
		a.task.URL.Path() != form.Path()
}

// shown reports whether a page shows what the check asks for. What is no HTML is not asked.
func (l *logins) shown(ctx context.Context, a *attempt, body []byte, contentType string) bool {
	c := &a.job.Login.Check
	if !c.Any() || !isHTML(mediaType(contentType)) {
		return true
	}
	p, err := forms.Parse(body, contentType, a.task.URL)
	if err != nil || !shows(c, p) {
		return false
	}
	l.fruitful(ctx, a)
	return true
}

// fruitful notes that a log-in was of use. That it is not noted is no fault: it only counts against a limit.
func (l *logins) fruitful(ctx context.Context, a *attempt) {
	jar, err := l.h.jars.get(ctx, a.job, a.task.URL.Hostname())
	if err != nil || jar == nil || jar.Login.Fruitless == 0 || jar.Login.Number != a.login {
		return
	}
	_, _ = l.h.jars.update(ctx, a.job, a.task.URL.Hostname(), func(jar *crawl.Jar) bool {
		same := jar.Login.Number == a.login && jar.Login.Fruitless > 0
		if same {
			jar.Login.Fruitless = 0
		}
		return same
	})
}

// over handles an answer that says that the crawler is not logged in. Nothing of it is kept, and the page is fetched
// again after a log-in. If that did not help, the page is left out. Other pages may be fetched between a log-in and
// this page, and the session may be over by then: only an answer to the first page after a log-in tells.
func (l *logins) over(ctx context.Context, a *attempt) error {
	a.finish()
	before, again := l.lacking.Get(a.task.URL.Key())
	if again && a.login > before.login && (l.first(ctx, a) || before.times >= maxLacks) {
		a.out.Verdict, a.out.Reason = crawl.VerdictRefused, crawl.ReasonLoggedOut
		a.out.Detail = "right after a log-in its answer does not show what login.check asks for"
		return nil
	}
	l.lacking.Put(a.task.URL.Key(), lack{a.login, before.times + 1}, 1)
	_, err := l.h.jars.update(ctx, a.job, a.task.URL.Hostname(), func(jar *crawl.Jar) bool {
		s := &jar.Login
		if s.Number != a.login || s.Out {
			return false // another worker has logged in meanwhile
		}
		s.Out = true
		return true
	})
	waits(a.out, "its answer is that of somebody who is not logged in: nothing of it is kept, and it is fetched again "+
		"after a log-in")
	return err
}

// first reports whether no page was seen since the last log-in that showed the check.
func (l *logins) first(ctx context.Context, a *attempt) bool {
	jar, err := l.h.jars.get(ctx, a.job, a.task.URL.Hostname())
	return err == nil && jar != nil && jar.Login.Number == a.login && jar.Login.Fruitless > 0
}
