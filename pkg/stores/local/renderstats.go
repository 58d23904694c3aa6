package local

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// RenderStats keeps what is known of the templates of jobs. Each call reads the store.
type RenderStats struct {
	s       *Store
	stripes stripes // by template
}

var _ crawl.RenderStats = (*RenderStats)(nil)

// RenderStats returns what is known of the templates of jobs.
func (s *Store) RenderStats() *RenderStats { return s.renders }

func templateKey(job jobNum, host string, template uint64) []byte {
	return binary.BigEndian.AppendUint64(append(append(appendJob(nil, kindTemplate, job), host...), 0), template)
}

func wrapTemplate(host string, template uint64, err error) error {
	if err != nil {
		err = fmt.Errorf("template %016x of %s: %w", template, host, err)
	}
	return err
}

// read reads a template.
func (r *RenderStats) read(key []byte, host string, template uint64) (t crawl.RenderTemplate, found bool, err error) {
	found, err = r.s.get(key, func(v []byte) error { return crawl.DecodeValue(v, &t) })
	t.Host, t.Template = host, template
	return t, found, err
}

// Template implements crawl.RenderStats.
func (r *RenderStats) Template(_ context.Context, job crawl.JobID, host string,
	template uint64) (t crawl.RenderTemplate, found bool, err error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return crawl.RenderTemplate{Host: host, Template: template}, false, nil
	}
	t, found, err = r.read(templateKey(number, host, template), host, template)
	return t, found, wrapTemplate(host, template, err)
}

// ChangeTemplate implements crawl.RenderStats.
func (r *RenderStats) ChangeTemplate(ctx context.Context, job crawl.JobID, host string, template uint64,
	change func(*crawl.RenderTemplate) bool) (t crawl.RenderTemplate, err error) {
	number, err := r.s.jobs.number(ctx, job)
	if err != nil {
		return t, wrapTemplate(host, template, err)
	}
	key := templateKey(number, host, template)
	defer r.stripes.lock([]byte{byte(xxh3.Hash(key))})()
	if t, _, err = r.read(key, host, template); err != nil {
		return t, wrapTemplate(host, template, err)
	}
	if !change(&t) {
		t, _, err = r.read(key, host, template) // change may have changed it
		return t, wrapTemplate(host, template, err)
	}
	t.Host, t.Template = host, template
	v, err := crawl.EncodeValue(&t)
	if err == nil {
		err = r.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(key, v, nil) })
	}
	return t, wrapTemplate(host, template, err)
}

// Templates implements crawl.RenderStats.
func (r *RenderStats) Templates(ctx context.Context, job crawl.JobID) (all []crawl.RenderTemplate, err error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return nil, nil
	}
	err = r.s.scan(ctx, appendJob(nil, kindTemplate, number), func(_, v []byte) error {
		var t crawl.RenderTemplate
		err := crawl.DecodeValue(v, &t)
		all = append(all, t)
		return err
	})
	if err != nil {
		err = fmt.Errorf("templates of job %q: %w", job, err)
	}
	return all, err
}

// ForgetTemplates implements crawl.RenderStats.
func (r *RenderStats) ForgetTemplates(ctx context.Context, job crawl.JobID) error {
	number, known := r.s.jobs.find(job)
	if !known {
		return nil
	}
	err := r.s.do(ctx, func(b *pebble.Batch) {
		_ = b.DeleteRange(appendJob(nil, kindTemplate, number), afterJob(kindTemplate, number), nil)
	})
	if err != nil {
		err = fmt.Errorf("forget the templates of job %q: %w", job, err)
	}
	return err
}
