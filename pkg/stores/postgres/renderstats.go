package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// RenderStats keeps what is known of the templates of jobs.
type RenderStats struct{ s *Store }

var _ crawl.RenderStats = (*RenderStats)(nil)

// RenderStats returns what is known of the templates of jobs.
func (s *Store) RenderStats() *RenderStats { return &RenderStats{s} }

const (
	templateSQL       = `SELECT version, stats FROM renders WHERE job = $1 AND host = $2 AND template = $3`
	templatesSQL      = `SELECT stats FROM renders WHERE job = $1 ORDER BY host, template`
	addTemplateSQL    = `INSERT INTO renders (job, host, template, version, stats) VALUES ($1, $2, $3, $4 + 1, $5) ON CONFLICT DO NOTHING`
	changeTemplateSQL = `UPDATE renders SET version = version + 1, stats = $5 WHERE job = $1 AND host = $2 AND template = $3 AND version = $4`
)

// templateColumn is a template as a number whose signed order is that of the unsigned one.
func templateColumn(template uint64) int64 { return int64(template ^ 1<<63) }

func templateName(host string, template uint64) string {
	return fmt.Sprintf("template %016x of %s", template, host)
}

// read reads a template. version 0: there is none.
func (r *RenderStats) read(ctx context.Context, number int32, host string,
	template uint64) (t crawl.RenderTemplate, version int64, err error) {
	var stats []byte
	err = r.s.pool.QueryRow(ctx, templateSQL, number, indexed(host), templateColumn(template)).Scan(&version, &stats)
	if errors.Is(err, pgx.ErrNoRows) {
		version, err = 0, nil
	} else if err == nil {
		err = crawl.DecodeValue(stats, &t)
	}
	t.Host, t.Template = host, template
	return t, version, err
}

// Template implements crawl.RenderStats.
func (r *RenderStats) Template(ctx context.Context, job crawl.JobID, host string,
	template uint64) (t crawl.RenderTemplate, found bool, err error) {
	err = r.s.do(ctx, templateName(host, template), func(ctx context.Context) error {
		t, found = crawl.RenderTemplate{Host: host, Template: template}, false
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		var version int64
		t, version, err = r.read(ctx, number, host, template)
		found = version > 0
		return err
	})
	return t, found && err == nil, err
}

// ChangeTemplate implements crawl.RenderStats. It locks nothing while it calls change: who finds another version than
// was read begins again, and of those that meet one goes on each time.
func (r *RenderStats) ChangeTemplate(ctx context.Context, job crawl.JobID, host string, template uint64,
	change func(*crawl.RenderTemplate) bool) (t crawl.RenderTemplate, err error) {
	for done := false; !done && err == nil; {
		err = r.s.do(ctx, "change "+templateName(host, template), func(ctx context.Context) error {
			number, err := r.s.jobs.number(ctx, job)
			if err == nil {
				t, done, err = r.changeOnce(ctx, number, host, template, change)
			}
			return err
		})
	}
	return t, err
}

// changeOnce changes a template, unless another change came between.
func (r *RenderStats) changeOnce(ctx context.Context, number int32, host string, template uint64,
	change func(*crawl.RenderTemplate) bool) (t crawl.RenderTemplate, done bool, err error) {
	t, version, err := r.read(ctx, number, host, template)
	if err != nil {
		return t, false, err
	}
	if !change(&t) {
		t, _, err = r.read(ctx, number, host, template) // change may have changed it
		return t, true, err
	}
	t.Host, t.Template = host, template
	stats, err := crawl.EncodeValue(&t)
	if err != nil {
		return t, false, crawl.Permanent(err)
	}
	sql := changeTemplateSQL
	if version == 0 {
		sql = addTemplateSQL
	}
	tag, err := r.s.pool.Exec(ctx, sql, number, indexed(host), templateColumn(template), version, stats)
	return t, tag.RowsAffected() > 0, err
}

// Templates implements crawl.RenderStats.
func (r *RenderStats) Templates(ctx context.Context, job crawl.JobID) (all []crawl.RenderTemplate, err error) {
	err = r.s.do(ctx, fmt.Sprintf("templates of job %q", job), func(ctx context.Context) error {
		all = nil
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := r.s.pool.Query(ctx, templatesSQL, number)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t crawl.RenderTemplate, err error) {
			var stats []byte
			if err = row.Scan(&stats); err == nil {
				err = crawl.DecodeValue(stats, &t)
			}
			return t, err
		})
		return err
	})
	return all, err
}

// ForgetTemplates implements crawl.RenderStats.
func (r *RenderStats) ForgetTemplates(ctx context.Context, job crawl.JobID) error {
	return r.s.do(ctx, fmt.Sprintf("forget the templates of job %q", job), func(ctx context.Context) error {
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		_, err = r.s.pool.Exec(ctx, `DELETE FROM renders WHERE job = $1`, number)
		return err
	})
}
