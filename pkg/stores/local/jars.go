package local

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Jars keeps the cookies of jobs by site. Each call reads the store; frequent users keep a cache.
type Jars struct{ s *Store }

var _ crawl.Jars = Jars{}

// Jars returns the jars of cookies.
func (s *Store) Jars() Jars { return Jars{s} }

// jarVersions are the versions of the jars of jobs, in memory from the first change of one on.
type jarVersions struct {
	mu sync.Mutex
	of map[jobNum]*jobJars
}

// jobJars are the versions of the jars of a job.
type jobJars struct {
	mu   sync.Mutex // held while one is stored
	read bool       // from the store
	of   map[string]uint64
	last uint64 // the greatest
}

// job returns what is known of a job.
func (all *jarVersions) job(number jobNum) *jobJars {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of == nil {
		all.of = map[jobNum]*jobJars{}
	}
	jars := all.of[number]
	if jars == nil {
		jars = &jobJars{of: map[string]uint64{}}
		all.of[number] = jars
	}
	return jars
}

// note notes the version of a jar.
func (j *jobJars) note(site string, version uint64) {
	j.of[site], j.last = version, max(j.last, version)
}

const jarHead = 8 // octets of the version before the CBOR

func jarKey(job jobNum, site string) []byte { return append(appendJob(nil, kindJar, job), site...) }

func decodeJar(v []byte) (jar crawl.Jar, err error) {
	if len(v) < jarHead {
		return jar, errors.New("a jar of cookies is damaged: it is too short")
	}
	err = crawl.DecodeValue(v[jarHead:], &jar)
	jar.Version = binary.BigEndian.Uint64(v)
	return jar, err
}

// Jar implements crawl.Jars.
func (j Jars) Jar(_ context.Context, job crawl.JobID, site string) (jar crawl.Jar, err error) {
	jar.Site = site
	number, known := j.s.jobs.find(job)
	if !known {
		return jar, nil
	}
	_, err = j.s.get(jarKey(number, site), func(v []byte) (err error) {
		jar, err = decodeJar(v)
		return err
	})
	if err != nil {
		err = fmt.Errorf("cookies of %s: %w", site, err)
	}
	return jar, err
}

// PutJar implements crawl.Jars.
func (j Jars) PutJar(ctx context.Context, job crawl.JobID, jar *crawl.Jar) (version uint64, err error) {
	number, err := j.s.jobs.number(ctx, job)
	if err != nil {
		return 0, err
	}
	value, err := crawl.EncodeValue(jar)
	if err != nil {
		return 0, err
	}
	jars := j.s.jarVersions.job(number)
	jars.mu.Lock()
	defer jars.mu.Unlock()
	switch err := j.read(ctx, number, jars); {
	case err != nil:
		return 0, err
	case jars.of[jar.Site] != jar.Version:
		return 0, crawl.ErrJarChanged
	case jar.Version == 0 && len(jars.of) >= crawl.MaxJars:
		return 0, crawl.ErrJarsFull
	}
	version = jars.last + 1
	value = append(binary.BigEndian.AppendUint64(nil, version), value...)
	err = j.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(jarKey(number, jar.Site), value, nil) })
	if err != nil {
		return 0, fmt.Errorf("store the cookies of %s: %w", jar.Site, err)
	}
	jars.note(jar.Site, version)
	return version, nil
}

// read reads the versions of a job's jars once. Their lock is held.
func (j Jars) read(ctx context.Context, number jobNum, jars *jobJars) error {
	if jars.read {
		return nil
	}
	prefix := jarKey(number, "")
	err := j.s.scan(ctx, prefix, func(k, v []byte) error {
		if len(v) >= jarHead {
			jars.note(string(k[len(prefix):]), binary.BigEndian.Uint64(v))
		}
		return nil
	})
	jars.read = err == nil
	return err
}

// JarsSince implements crawl.Jars.
func (j Jars) JarsSince(ctx context.Context, job crawl.JobID, version uint64, limit int) (out []crawl.Jar, err error) {
	number, known := j.s.jobs.find(job)
	if !known {
		return nil, nil
	}
	err = j.s.scan(ctx, jarKey(number, ""), func(_, v []byte) error {
		if len(v) >= jarHead && binary.BigEndian.Uint64(v) <= version {
			return nil
		}
		jar, err := decodeJar(v)
		if out = append(out, jar); len(out) >= 2*limit {
			out = firstJars(out, limit)
		}
		return err
	})
	return firstJars(out, limit), err
}

func firstJars(jars []crawl.Jar, limit int) []crawl.Jar {
	slices.SortFunc(jars, func(a, b crawl.Jar) int { return cmp.Compare(a.Version, b.Version) })
	return jars[:min(len(jars), limit)]
}
