package builtin

import (
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of outputs that leave the machine.
const (
	maxBatch  = 10_000
	maxPartMB = 1024
)

const (
	howToName = "a secret is named, not written: ${NAME} for a variable of the program that writes the output, or " +
		"file:PATH"
	batchText = "rows that are sent at once, 1 to 10000; 500 where it is not said. A batch has about 1 MiB at most"
	replText  = "take over what another crawl has delivered there: a crawl that is begun anew with --fresh is another one"
)

var (
	bucketName = lazily(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixName = lazily(`^[A-Za-z0-9][A-Za-z0-9!_.*'()/=-]{0,500}$`)
	tableName  = lazily(`^([a-z_][a-z0-9_]{0,40}\.)?[a-z_][a-z0-9_]{0,40}$`)
	mongoName  = lazily(`^[A-Za-z_][A-Za-z0-9_-]{0,60}$`)
)

// s3 puts records into a bucket.
func s3() *builtin {
	return &builtin{plugin.Descriptor{Name: "s3", Summary: "Puts what was stored into a bucket, as objects of CSV, JSON " +
		"Lines or Parquet with a manifest, or as one WACZ package at the end",
		Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"bucket", "file"}, rowSettings(map[string]any{
			"bucket": prop("string", "name of the bucket, which is there"),
			"file": prop("string", "name that objects get, as in pages.csv (pages-000001.csv and so on), pages.jsonl, "+
				"pages.parquet or site.wacz"),
			"prefix": prop("string", "what keys begin with, as in crawls/shop; empty: JOB/NODE"),
			"endpoint": prop("string",
				"store, as in https://s3.eu-central-1.amazonaws.com or http://minio:9000; empty: Amazon's of the region"),
			"region": prop("string", "of the bucket; empty: us-east-1"),
			"access_key": prop("string",
				"${NAME} or file:PATH; empty: credentials of the environment, of ~/.aws, or of the machine's role"),
			"secret_key":    prop("string", "${NAME} or file:PATH"),
			"session_token": prop("string", "${NAME} or file:PATH, where the keys are of a session"),
			"storage_class": prop("string", "as in STANDARD_IA; empty: the bucket's"),
			"encryption":    prop("string", "AES256, aws:kms or aws:kms:KEY; empty: the bucket's"),
			"part_mb":       prop("integer", "MiB of records that an object is made of, 1 to 1024; 128 where it is not said"),
			"raw_text":      prop("boolean", "leave cells of CSV as they are that a spreadsheet would take for a formula"),
			"replace":       prop("boolean", replText)}))}, makeOutput(writtenS3)}
}

func writtenS3(with map[string]any) (*Written, error) {
	var set struct {
		File, Bucket, Prefix, Endpoint, Region string
		Columns                                []string
		Originals, Replace                     bool
		RawText                                bool   `json:"raw_text"`
		AccessKey                              string `json:"access_key"`
		SecretKey                              string `json:"secret_key"`
		SessionToken                           string `json:"session_token"`
		StorageClass                           string `json:"storage_class"`
		Encryption                             string
		PartMB                                 int `json:"part_mb"`
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	w := &Written{File: set.File, Columns: set.Columns, Originals: set.Originals, RawText: set.RawText,
		Replace: set.Replace, S3: &S3{Endpoint: set.Endpoint, Region: set.Region, Bucket: set.Bucket,
			Prefix: strings.Trim(set.Prefix, "/"), AccessKey: set.AccessKey, SecretKey: set.SecretKey,
			SessionToken: set.SessionToken, StorageClass: set.StorageClass, Encryption: set.Encryption, PartMB: set.PartMB}}
	if err := w.check(); err != nil {
		return nil, err
	}
	return w, w.S3.check()
}

func (s *S3) check() error {
	u, err := url.Parse(s.Endpoint)
	switch {
	case !bucketName().MatchString(s.Bucket):
		return bad("bucket", "%q: want the name of a bucket: 3 to 63 of a-z, 0-9, '.' and '-'", s.Bucket)
	case s.Prefix != "" && (!prefixName().MatchString(s.Prefix) || strings.Contains(s.Prefix, "//")):
		return bad("prefix", "%q: want names with / between them", s.Prefix)
	case s.Endpoint != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" ||
		strings.Trim(u.Path, "/") != ""):
		return bad("endpoint", "want https://HOST[:PORT], without a password")
	case s.PartMB < 0 || s.PartMB > maxPartMB:
		return bad("part_mb", "%d: want 1 to %d", s.PartMB, maxPartMB)
	case (s.AccessKey == "") != (s.SecretKey == ""):
		return bad("secret_key", "access_key and secret_key belong together: name both, or none")
	}
	for key, text := range map[string]string{"access_key": s.AccessKey, "secret_key": s.SecretKey,
		"session_token": s.SessionToken} {
		if text != "" && !secret.IsOnlyReference(text) {
			return bad(key, howToName)
		}
	}
	return nil
}

// postgres puts records into a table.
func postgres() *builtin {
	return &builtin{plugin.Descriptor{Name: "postgres",
		Summary: "Puts what was stored into a table of a PostgreSQL database", Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"url"}, rowSettings(map[string]any{
			"url": prop("string", "database, as in postgres://crawler:${PG_PASSWORD}@db.example.com/pages; or ${NAME} or "+
				"file:PATH alone"),
			"table":   prop("string", "NAME or SCHEMA.NAME; it is made where it is missing; empty: whirlpool_records"),
			"batch":   prop("integer", batchText),
			"replace": prop("boolean", replText)}))}, makeOutput(writtenPostgres)}
}

func writtenPostgres(with map[string]any) (*Written, error) {
	var set struct {
		URL, Table         string
		Columns            []string
		Originals, Replace bool
		Batch              int
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if set.Table == "" {
		set.Table = "whirlpool_records"
	}
	w := &Written{Columns: set.Columns, Originals: set.Originals, Replace: set.Replace, Batch: set.Batch,
		Postgres: &Postgres{set.URL, set.Table}}
	if err := w.check(); err != nil {
		return nil, err
	}
	if !tableName().MatchString(set.Table) {
		return nil, bad("table", "%q: want NAME or SCHEMA.NAME, of a-z, 0-9 and _", set.Table)
	}
	return w, checkURL(set.URL, "postgres", "postgresql")
}

// mongodb puts records into a collection.
func mongodb() *builtin {
	return &builtin{plugin.Descriptor{Name: "mongodb",
		Summary: "Puts what was stored into a collection of a MongoDB database", Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"url", "database"}, rowSettings(map[string]any{
			"url": prop("string", "server, as in mongodb://crawler:${MONGO_PASSWORD}@db.example.com/; or ${NAME} or "+
				"file:PATH alone"),
			"database":   prop("string", "name of the database"),
			"collection": prop("string", "name of the collection; empty: whirlpool_records"),
			"batch":      prop("integer", batchText),
			"replace":    prop("boolean", replText)}))}, makeOutput(writtenMongo)}
}

func writtenMongo(with map[string]any) (*Written, error) {
	var set struct {
		URL, Database, Collection string
		Columns                   []string
		Originals, Replace        bool
		Batch                     int
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	if set.Collection == "" {
		set.Collection = "whirlpool_records"
	}
	w := &Written{Columns: set.Columns, Originals: set.Originals, Replace: set.Replace, Batch: set.Batch,
		Mongo: &Mongo{set.URL, set.Database, set.Collection}}
	if err := w.check(); err != nil {
		return nil, err
	}
	for key, name := range map[string]string{"database": set.Database, "collection": set.Collection} {
		if !mongoName().MatchString(name) {
			return nil, bad(key, "%q: want letters, digits, '_' and '-'", name)
		}
	}
	return w, checkURL(set.URL, "mongodb", "mongodb+srv")
}

// hook posts records to another program.
func hook() *builtin {
	return &builtin{plugin.Descriptor{Name: "webhook",
		Summary: "Posts what was stored to another program, in signed batches", Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"url"}, rowSettings(map[string]any{
			"url": prop("string", "address that takes posts, as in https://hooks.example.com/pages; or with ${NAME}, or "+
				"file:PATH, where there is a secret in it"),
			"secrets": texts("of the signature: ${NAME} or file:PATH; two while one is replaced, the newer first"),
			"batch":   prop("integer", batchText)}))}, makeOutput(writtenHook)}
}

func writtenHook(with map[string]any) (*Written, error) {
	var set struct {
		URL              string
		Secrets, Columns []string
		Originals        bool
		Batch            int
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	w := &Written{Columns: set.Columns, Originals: set.Originals, Batch: set.Batch, Hook: &Hook{set.URL, set.Secrets}}
	if err := w.check(); err != nil {
		return nil, err
	}
	if len(set.Secrets) > 2 {
		return nil, bad("secrets", "want at most two: the newer and the older")
	}
	for _, text := range set.Secrets {
		if !secret.IsOnlyReference(text) {
			return nil, bad("secrets", howToName)
		}
	}
	return w, checkURL(set.URL, "http", "https")
}

// checkURL finds what is wrong with an address, and a password that is written in it.
func checkURL(text string, schemes ...string) error {
	if secret.IsOnlyReference(text) {
		return nil
	}
	u, err := url.Parse(secret.Mask(text))
	if err != nil || u.Host == "" || u.Scheme != schemes[0] && u.Scheme != schemes[1] {
		return bad("url", "want %s://…, or ${NAME} or file:PATH where all of it is secret", schemes[0])
	}
	written := func(value string) bool { return value != "" && value != secret.Masked }
	if password, has := u.User.Password(); has && written(password) {
		return bad("url", howToName)
	}
	for name, values := range u.Query() {
		if crawl.IsSecretName(name) && written(strings.Join(values, "")) {
			return bad("url", "its %s: "+howToName, name)
		}
	}
	return nil
}
