package fetcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
)

// jars are the cookies of jobs, in memory as far as they were used lately. Other fetchers of a cluster change them too:
// what they changed is looked for twice a second, all sites of a job at once. A job without any cookie costs no look-up
// a page.
type jars struct {
	store crawl.Jars
	own   bool // no other process changes them

	mu   sync.Mutex
	jobs map[jobLife]*jobJars
}

// jobLife tells a job from one of the same name that was deleted.
type jobLife struct {
	id    crawl.JobID
	first uint32
}

type jobJars struct {
	mu     sync.Mutex
	looked time.Time // zero: never
	seen   uint64    // version
	any    bool      // the job has a jar
	sites  *lru.Cache[string, *crawl.Jar]
}

// Bounds of jars.
const (
	jarsLook    = 500 * time.Millisecond
	jarsAtOnce  = 64
	keptJars    = 4096
	keptBytes   = 32 << 20
	jarTries    = 8
	maxJarsJobs = 256
)

func newJars(store crawl.Jars, own bool) *jars {
	return &jars{store: store, own: own, jobs: map[jobLife]*jobJars{}}
}

// of returns the jars of a job; nil where it keeps none.
func (j *jars) of(job *crawl.Job) *jobJars {
	if j.store == nil || !job.KeepsCookies() {
		return nil
	}
	life := jobLife{job.ID, crawl.EpochOf(job.First)}
	j.mu.Lock()
	defer j.mu.Unlock()
	jj := j.jobs[life]
	if jj == nil {
		if len(j.jobs) >= maxJarsJobs {
			clear(j.jobs)
		}
		jj = &jobJars{sites: lru.New[string, *crawl.Jar](keptJars, keptBytes)}
		j.jobs[life] = jj
	}
	return jj
}

// get returns the jar of a site as it is known here; nil where the job has none at all, or keeps none. It is shared:
// callers must not change it.
func (j *jars) get(ctx context.Context, job *crawl.Job, host string) (*crawl.Jar, error) {
	jj := j.of(job)
	if jj == nil {
		return nil, nil
	}
	jj.mu.Lock()
	defer jj.mu.Unlock()
	if jj.looked.IsZero() || !j.own && time.Since(jj.looked) >= jarsLook {
		if err := j.look(ctx, job.ID, jj); err != nil {
			return nil, err
		}
	}
	if !jj.any {
		return nil, nil
	}
	site := cookies.Site(host)
	if jar, ok := jj.sites.Get(site); ok {
		return jar, nil
	}
	jar, err := j.store.Jar(ctx, job.ID, site)
	if err != nil {
		return nil, err
	}
	jj.keep(&jar)
	return &jar, nil
}

// look looks for what others changed. The lock is held.
func (j *jars) look(ctx context.Context, id crawl.JobID, jj *jobJars) error {
	at := time.Now()
	for first := jj.looked.IsZero(); ; {
		changed, err := j.store.JarsSince(ctx, id, jj.seen, jarsAtOnce)
		if err != nil {
			return fmt.Errorf("cookies of job %q: %w", id, err)
		}
		for i := range changed {
			jj.keep(&changed[i])
			jj.seen, jj.any = changed[i].Version, true
		}
		if len(changed) < jarsAtOnce || first && j.own { // that there are any is all that an only process asks
			jj.looked = at
			return nil
		}
	}
}

func (jj *jobJars) keep(jar *crawl.Jar) { jj.sites.Put(jar.Site, jar, jarCost(jar)) }

func jarCost(jar *crawl.Jar) int64 {
	n := int64(len(jar.Site)) + 100
	for i := range jar.Cookies {
		c := &jar.Cookies[i]
		n += int64(len(c.Name)+len(c.Value)+len(c.Domain)+len(c.Path)) + 150
	}
	return n
}

// update changes the jar of a site. change gets a copy and reports whether there is anything to store; it may be called
// more than once. It returns the jar as it is then.
func (j *jars) update(ctx context.Context, job *crawl.Job, host string,
	change func(*crawl.Jar) bool) (*crawl.Jar, error) {
	site := cookies.Site(host)
	jar, err := j.get(ctx, job, host)
	if err == nil && jar == nil {
		jar = &crawl.Jar{Site: site}
	}
	for try := 0; err == nil && try < jarTries; try++ {
		next := *jar
		if !change(&next) {
			return jar, nil
		}
		next.Version, err = j.store.PutJar(ctx, job.ID, &next)
		switch {
		case err == nil:
			j.changed(job, &next)
			return &next, nil
		case errors.Is(err, crawl.ErrJarsFull):
			return jar, nil
		case errors.Is(err, crawl.ErrJarChanged):
			jar, err = j.fresh(ctx, job, site)
		}
	}
	if err == nil {
		err = crawl.ErrJarChanged
	}
	return nil, fmt.Errorf("cookies of %s: %w", site, err)
}

// changed notes what this process stored.
func (j *jars) changed(job *crawl.Job, jar *crawl.Jar) {
	jj := j.of(job)
	if jj == nil {
		return
	}
	jj.mu.Lock()
	defer jj.mu.Unlock()
	if known, ok := jj.sites.Get(jar.Site); !ok || known.Version < jar.Version {
		jj.keep(jar)
	}
	jj.any = true
}

// fresh reads a jar from the store.
func (j *jars) fresh(ctx context.Context, job *crawl.Job, site string) (*crawl.Jar, error) {
	jar, err := j.store.Jar(ctx, job.ID, site)
	if err != nil {
		return nil, err
	}
	j.changed(job, &jar)
	return &jar, nil
}
