package builtin

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Written says what a node at output writes, and where: one of S3, Postgres, Mongo and Hook is set, or none, and
// then it is a file of the crawl.
type Written struct {
	File      string   // its ending names the format; in the directory of the crawl below outputs/, or the name of objects
	Columns   []string // none: those of the format
	Originals bool     // no copies
	RawText   bool     // in CSV: cells that a spreadsheet would run stay as they are
	Replace   bool     // take over what another crawl has left there
	Batch     int      // rows that are sent at once; 0: the usual

	S3       *S3
	Postgres *Postgres
	Mongo    *Mongo
	Hook     *Hook
}

// S3 is a bucket of a store that speaks S3. Keys are references to secrets.
type S3 struct {
	Endpoint, Region, Bucket, Prefix   string
	AccessKey, SecretKey, SessionToken string
	StorageClass, Encryption           string
	PartMB                             int // of records in an object; 0: the usual
}

// Postgres is a table. URL may refer to secrets.
type Postgres struct{ URL, Table string }

// Mongo is a collection. URL may refer to secrets.
type Mongo struct{ URL, Database, Collection string }

// Hook is a program that takes posts. URL may refer to secrets; Secrets are references.
type Hook struct {
	URL     string
	Secrets []string
}

// maxColumns bounds the columns of an output.
const maxColumns = 200

// outputName is what a file may be called: no directory, nothing hidden, nothing that a system gives a meaning.
var outputName = lazily(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(csv|jsonl|parquet|wacz)$`)

// rows are the settings that outputs share.
func rowSettings(more map[string]any) map[string]any {
	all := map[string]any{
		"columns": texts("keys of a record in their order, as in url, title and fields.price; none: whole records as " +
			"JSON, all but lists as CSV, all as Parquet"),
		"originals": prop("boolean", "leave out copies")}
	for name, schema := range more {
		all[name] = schema
	}
	return all
}

// file writes records into a file that grows.
func file() *builtin {
	return &builtin{plugin.Descriptor{Name: "file",
		Summary: "Writes what was stored into a file that grows with the crawl, as CSV, JSON Lines or Parquet, or packs " +
			"its archive as WACZ at the end",
		Serves: serving(nil, crawl.AtOutput),
		Config: object([]string{"file"}, rowSettings(map[string]any{
			"file": prop("string", "name of the file, as in pages.csv, pages.jsonl, pages.parquet or site.wacz; it lies "+
				"in outputs, in the directory of the crawl"),
			"raw_text": prop("boolean", "leave cells of CSV as they are that a spreadsheet would take for a formula")}))},
		makeOutput(writtenFile)}
}

// makeOutput checks the settings. No message passes.
func makeOutput(of func(map[string]any) (*Written, error)) func(crawl.Point, map[string]any) (handler, error) {
	return func(_ crawl.Point, with map[string]any) (handler, error) {
		if _, err := of(with); err != nil {
			return nil, err
		}
		return func(*plugin.Call) (*plugin.Answer, error) { return pass, nil }, nil
	}
}

// writers are what the outputs read from their settings, by the node's use.
var writers = map[string]func(map[string]any) (*Written, error){
	"builtin/file@1": writtenFile, "builtin/s3@1": writtenS3, "builtin/postgres@1": writtenPostgres,
	"builtin/mongodb@1": writtenMongo, "builtin/webhook@1": writtenHook,
}

// WrittenOf returns what a node at output asks for.
func WrittenOf(n *crawl.PluginNode) (*Written, error) {
	of, ok := writers[n.Use]
	if !ok {
		return nil, fmt.Errorf("use: %s writes nothing", n.Use)
	}
	return of(n.With)
}

func writtenFile(with map[string]any) (*Written, error) {
	var set struct {
		File      string
		Columns   []string
		Originals bool
		RawText   bool `json:"raw_text"`
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	w := &Written{File: set.File, Columns: set.Columns, Originals: set.Originals, RawText: set.RawText}
	return w, w.check()
}

// check finds what is wrong with what outputs share.
func (w *Written) check() error {
	if w.File != "" && !outputName().MatchString(w.File) || w.File == "" &&
		(w.S3 != nil || w.Postgres == nil && w.Mongo == nil && w.Hook == nil) {
		return bad("file", "%q: name it with letters, digits, '.', '_' and '-', and .csv, .jsonl, .parquet or .wacz at its "+
			"end; it lies in no directory", w.File)
	}
	if len(w.Columns) > maxColumns {
		return bad("columns", "%d: want at most %d", len(w.Columns), maxColumns)
	}
	if w.Batch < 0 || w.Batch > maxBatch {
		return bad("batch", "%d: want 1 to %d", w.Batch, maxBatch)
	}
	return nil
}

// Leaves reports whether rows leave this machine, or go to another program.
func (w *Written) Leaves() bool {
	return w.S3 != nil || w.Postgres != nil || w.Mongo != nil || w.Hook != nil
}

// Packs reports whether the archive is packed, and no rows are written.
func (w *Written) Packs() bool { return strings.HasSuffix(w.File, ".wacz") }

// Where says where rows go that leave, for people: without secrets.
func (w *Written) Where() string {
	switch {
	case w.S3 != nil:
		return w.S3.EndpointURL() + "/" + w.S3.Bucket + "/" + w.S3.Prefix
	case w.Postgres != nil:
		return "table " + w.Postgres.Table + " of " + shown(w.Postgres.URL)
	case w.Mongo != nil:
		return "collection " + w.Mongo.Database + "." + w.Mongo.Collection + " of " + shown(w.Mongo.URL)
	case w.Hook != nil:
		return shown(w.Hook.URL)
	}
	return w.File
}

// shown is an address without user, password and query. What is a reference stays one.
func shown(text string) string {
	if secret.IsOnlyReference(text) {
		return text
	}
	u, err := url.Parse(secret.Mask(text))
	if err != nil {
		return "an address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// EndpointURL is the address of the store.
func (s *S3) EndpointURL() string {
	switch {
	case s.Endpoint != "":
		return s.Endpoint
	case s.Region != "" && s.Region != "us-east-1":
		return "https://s3." + s.Region + ".amazonaws.com"
	}
	return "https://s3.amazonaws.com"
}
