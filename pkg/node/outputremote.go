package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/s3"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/webhook"
)

// WantedOutput is what a node at output asks for.
type WantedOutput struct {
	deliver.Output
	want *builtin.Written
	node string
}

// Node is the id of its node.
func (o *WantedOutput) Node() string { return o.node }

// AtRest tells how many rows it has, while no process writes it, and whether records up to an end are not delivered.
func (o *WantedOutput) AtRest(ctx context.Context, notes deliver.Notes, end int64) (rows int64, behind bool,
	err error) {
	return deliver.AtRest(ctx, notes, &o.Output, end)
}

// Leaves reports whether it goes to another machine, or to another program.
func (o *WantedOutput) Leaves() bool { return o.want.Leaves() }

// Packs reports whether it packs the archive.
func (o *WantedOutput) Packs() bool { return o.want.Packs() }

// Where says where it goes, without secrets.
func (o *WantedOutput) Where() string {
	if !o.Leaves() {
		return o.File
	}
	return o.want.Where()
}

// Open opens it for records that are read from their beginning.
func (o *WantedOutput) Open(ctx context.Context, job crawl.JobID, owner string, source deliver.Source,
	log *slog.Logger) (deliver.File, error) {
	return openOutput(ctx, &o.Output, o.want, &deliver.Remote{Owner: owner, Job: string(job), Node: o.node}, true,
		&deliver.Forgetful{}, source, log)
}

// secrets are what references stand for, so that no error tells one.
type secrets []string

func (s *secrets) resolve(text string) (string, error) {
	value, err := secret.Resolve(text)
	if err == nil && value != text {
		for _, ref := range secret.References(text) { // a receiver may tell a part of its address
			if part, err := secret.Resolve(ref); err == nil {
				*s = append(*s, part)
			}
		}
		*s = append(*s, value)
		if u, parsed := url.Parse(value); parsed == nil && u.User != nil {
			if password, has := u.User.Password(); has {
				*s = append(*s, password, url.QueryEscape(password))
			}
		}
	}
	return value, err
}

// hide is an error without secrets.
func (s secrets) hide(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, value := range s {
		if len(value) > 0 {
			text = strings.ReplaceAll(text, value, secret.Masked)
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

// openOutput opens what an output writes to.
func openOutput(ctx context.Context, o *deliver.Output, want *builtin.Written, to *deliver.Remote, private bool,
	notes deliver.Notes, source deliver.Source, log *slog.Logger) (deliver.File, error) {
	if !want.Leaves() {
		return deliver.Open(ctx, notes, source, *o, log)
	}
	var hidden secrets
	to.Replace, to.Rows, to.Where = want.Replace, want.Batch, want.Where()
	if err := reach(want, to, private, &hidden); err != nil {
		return nil, hidden.hide(err)
	}
	if want.S3 != nil {
		if to.Prefix = want.S3.Prefix + "/"; to.Prefix == "/" {
			to.Prefix = to.Job + "/" + to.Node + "/"
		}
		to.Where = "s3://" + want.S3.Bucket + "/" + strings.TrimSuffix(to.Prefix, "/")
		if want.S3.PartMB > 0 {
			o.PartBytes = int64(want.S3.PartMB) << 20
		}
	}
	o.To = to
	f, err := deliver.Open(ctx, notes, source, *o, log)
	if err != nil {
		return nil, hidden.hide(err)
	}
	return guarded{f, hidden}, nil
}

// reach makes the client of an output.
func reach(want *builtin.Written, to *deliver.Remote, private bool, hidden *secrets) (err error) {
	var errs []error
	of := func(text string) string {
		value, err := hidden.resolve(text)
		errs = append(errs, err)
		return value
	}
	switch {
	case want.S3 != nil:
		opt := bucketOf(want.S3, of)
		opt.AllowPrivate = private
		if err := errors.Join(errs...); err != nil {
			return err
		}
		to.Bucket, err = s3.Open(opt)
	case want.Postgres != nil:
		opt := postgres.Options{URL: of(want.Postgres.URL), Table: want.Postgres.Table, AllowPrivate: private}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		to.Receiver, err = postgres.New(opt)
	case want.Mongo != nil:
		opt := mongo.Options{URL: of(want.Mongo.URL), Database: want.Mongo.Database, Collection: want.Mongo.Collection,
			AllowPrivate: private}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		to.Receiver, err = mongo.New(opt)
	default:
		opt := webhook.Options{URL: of(want.Hook.URL), AllowPrivate: private}
		for _, text := range want.Hook.Secrets {
			opt.Secrets = append(opt.Secrets, of(text))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		to.Receiver = webhook.New(opt)
	}
	return err
}

// guarded is a file whose errors tell no secret.
type guarded struct {
	deliver.File
	hidden secrets
}

// Step implements deliver.File.
func (g guarded) Step(ctx context.Context) error { return g.hidden.hide(g.File.Step(ctx)) }

// Complete implements deliver.File.
func (g guarded) Complete(ctx context.Context, last bool) error {
	return g.hidden.hide(g.File.Complete(ctx, last))
}

// Close implements deliver.File.
func (g guarded) Close() error {
	if err := g.File.Close(); err != nil {
		return fmt.Errorf("close: %w", g.hidden.hide(err))
	}
	return nil
}

// bucketOf is how a bucket is reached; of resolves a secret.
func bucketOf(b *builtin.S3, of func(string) string) s3.Options {
	opt := s3.Options{Endpoint: b.EndpointURL(), Region: b.Region, Bucket: b.Bucket, StorageClass: b.StorageClass,
		Encryption: b.Encryption}
	if b.AccessKey != "" {
		opt.AccessKey, opt.SecretKey = of(b.AccessKey), of(b.SecretKey)
	}
	if b.SessionToken != "" {
		opt.SessionToken = of(b.SessionToken)
	}
	return opt
}
