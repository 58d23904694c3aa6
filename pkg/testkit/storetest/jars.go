package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
)

// Jars checks the promises of crawl.Jars. again opens the store once more, and may close the first.
func Jars(t *testing.T, open func(t *testing.T) (j crawl.Jars, again func() crawl.Jars)) {
	t.Run("a jar outlasts the program", func(t *testing.T) {
		j, again := open(t)
		job := jarJob()
		put := newJar("a.test", "1")
		put.Login = crawl.LoginState{Number: 3, Failure: "why", FailedAt: time.Unix(7, 0).UTC(), Holder: "me",
			Until: time.Unix(8, 0).UTC()}
		put.Version = putJar(t, j, job, put)
		for _, next := range []func() crawl.Jars{func() crawl.Jars { return j }, again} {
			got, err := next().Jar(context.Background(), job, "a.test")
			check(t, err)
			if fmt.Sprint(got) != fmt.Sprint(*put) {
				t.Errorf("got %+v, want %+v", got, *put)
			}
		}
	})
	t.Run("jobs and sites are apart", func(t *testing.T) { jarsApart(t, open) })
	t.Run("who comes late changes nothing", func(t *testing.T) { jarsLate(t, open) })
	t.Run("of many at once each counts", func(t *testing.T) { jarsAtOnce(t, open) })
	t.Run("what is new", func(t *testing.T) { jarsSince(t, open) })
}

// jarJob is a job that no other test knows: stores may share a database.
func jarJob() crawl.JobID { return crawl.JobID(fmt.Sprintf("jars-%x", rand.Uint64())) }

func newJar(site, value string) *crawl.Jar {
	return &crawl.Jar{Site: site, Cookies: []cookies.Cookie{{Name: "n", Value: value, Domain: site, Path: "/",
		Created: time.Unix(5, 0).UTC()}}}
}

func putJar(t *testing.T, j crawl.Jars, id crawl.JobID, jar *crawl.Jar) uint64 {
	t.Helper()
	version, err := j.PutJar(context.Background(), id, jar)
	check(t, err)
	return version
}

func jarsApart(t *testing.T, open func(t *testing.T) (crawl.Jars, func() crawl.Jars)) {
	job, another := jarJob(), jarJob()
	j, _ := open(t)
	putJar(t, j, job, newJar("a.test", "1"))
	putJar(t, j, another, newJar("a.test", "2"))
	putJar(t, j, job, newJar("b.test", "3"))
	for _, tc := range []struct {
		id          crawl.JobID
		site, value string
	}{{job, "a.test", "1"}, {another, "a.test", "2"}, {job, "b.test", "3"}, {job, "test", ""}, {job, "a.tes", ""},
		{another, "b.test", ""}, {"unknown", "a.test", ""}} {
		got, err := j.Jar(context.Background(), tc.id, tc.site)
		check(t, err)
		value := ""
		if len(got.Cookies) > 0 {
			value = got.Cookies[0].Value
		}
		if value != tc.value || got.Site != tc.site || (got.Version == 0) != (value == "") {
			t.Errorf("job %s, %s: %+v, want the value %q", tc.id, tc.site, got, tc.value)
		}
	}
}

func jarsLate(t *testing.T, open func(t *testing.T) (crawl.Jars, func() crawl.Jars)) {
	job := jarJob()
	j, again := open(t)
	first := newJar("a.test", "1")
	first.Version = putJar(t, j, job, first)
	second := *first
	second.Cookies = newJar("a.test", "2").Cookies
	putJar(t, j, job, &second)
	j = again()
	for name, late := range map[string]*crawl.Jar{"with the version before": first,
		"without a version": newJar("a.test", "3")} {
		if _, err := j.PutJar(context.Background(), job, late); !errors.Is(err, crawl.ErrJarChanged) {
			t.Errorf("%s: %v, want ErrJarChanged", name, err)
		}
	}
	if got, err := j.Jar(context.Background(), job, "a.test"); err != nil || got.Cookies[0].Value != "2" {
		t.Errorf("%+v, %v", got, err)
	}
}

func jarsAtOnce(t *testing.T, open func(t *testing.T) (crawl.Jars, func() crawl.Jars)) {
	const writers, each = 4, 10
	job := jarJob()
	j, _ := open(t)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for n := 0; n < each; {
				jar, err := j.Jar(context.Background(), job, "a.test")
				jar.Login.Number++
				if err == nil {
					_, err = j.PutJar(context.Background(), job, &jar)
				}
				switch {
				case err == nil:
					n++
				case !errors.Is(err, crawl.ErrJarChanged):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if jar, err := j.Jar(context.Background(), job, "a.test"); err != nil || jar.Login.Number != writers*each {
		t.Errorf("%d changes are left of %d, %v", jar.Login.Number, writers*each, err)
	}
}

func jarsSince(t *testing.T, open func(t *testing.T) (crawl.Jars, func() crawl.Jars)) {
	job, another := jarJob(), jarJob()
	j, again := open(t)
	a, b := newJar("a.test", "1"), newJar("b.test", "1")
	a.Version = putJar(t, j, job, a)
	b.Version = putJar(t, j, job, b)
	putJar(t, j, another, newJar("c.test", "1"))
	seen := b.Version
	a.Version = putJar(t, j, job, a)
	for _, next := range []func() crawl.Jars{func() crawl.Jars { return j }, again} {
		j := next()
		for _, tc := range []struct {
			since uint64
			limit int
			want  string
		}{{0, 9, "b.test a.test "}, {0, 1, "b.test "}, {seen, 9, "a.test "}, {a.Version, 9, ""}} {
			jars, err := j.JarsSince(context.Background(), job, tc.since, tc.limit)
			check(t, err)
			got := ""
			for _, jar := range jars {
				got += jar.Site + " "
			}
			if got != tc.want {
				t.Errorf("since %d, at most %d: %q, want %q", tc.since, tc.limit, got, tc.want)
			}
		}
	}
}
