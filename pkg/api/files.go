package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// File is a file of an execution.
type File struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// maxFiles bounds the list: an archive of WARC files of 1 GB each is in it whole.
const maxFiles = 10_000

func (s *Server) fileRoutes() {
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/files", id: "listFiles", role: Viewer,
		text: "Files of an execution"}, s.listFiles)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/files/{name}", id: "getFile", role: Viewer, stream: true,
		media: attachment, ranges: true,
		text: "A file, whole or a range, as an attachment"}, s.getFile)
	add(s, route{method: http.MethodGet, path: "/executions/{ex}/export", id: "exportRecords", role: Viewer, stream: true,
		media: attachment,
		text:  "Records as CSV, JSON Lines or Parquet, as an attachment: all, or those that a filter picks"}, s.export)
}

// dir is the directory of an execution that there is.
func (s *Server) dir(ctx context.Context, id crawl.JobID) (string, error) {
	if _, err := s.Workflows.Execution(ctx, id); err != nil {
		return "", err
	}
	return s.Crawls.Dir(ctx, id)
}

func (s *Server) listFiles(ctx context.Context, in *ExecutionPath) (*body[workflow.List[File]], error) {
	dir, err := s.dir(ctx, in.job())
	if err != nil {
		return nil, err
	}
	l := workflow.List[File]{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted meanwhile
		}
		if err != nil || !d.Type().IsRegular() || hidden(name) {
			return err
		}
		if len(l.Items) == maxFiles {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err == nil {
			l.Items = append(l.Items, File{Name: name, Bytes: info.Size(), Modified: info.ModTime().UTC()})
		}
		return nil
	})
	return list(ctx, s, &l, err)
}

// hidden reports whether a file is none of the results: kept bodies are asked for one by one.
func hidden(name string) bool {
	return strings.HasPrefix(path.Base(name), ".") || strings.HasPrefix(name, "state/") ||
		strings.HasPrefix(name, "bodies/")
}

func (s *Server) getFile(ctx context.Context, in *struct {
	ExecutionPath
	Name string `path:"name" maxLength:"300" doc:"as in the list, with / as %2F"`
}) (*huma.StreamResponse, error) {
	dir, err := s.dir(ctx, in.job())
	if err != nil {
		return nil, err
	}
	f, err := openIn(dir, in.Name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("%w: there is no file %s: the list of files has all", workflow.ErrNotFound, in.Name)
	}
	//nolint:contextcheck // the request has its own
	return stream(func(w http.ResponseWriter, r *http.Request) {
		defer f.Close()
		attach(w, string(in.job())+"-"+path.Base(in.Name), attachment)
		http.ServeContent(&patient{ResponseWriter: w}, r, "", info.ModTime(), f)
	}), nil
}

// openIn opens a file below dir, and nothing beside it.
func openIn(dir, name string) (*os.File, error) {
	if !fs.ValidPath(name) || hidden(name) {
		return nil, fmt.Errorf("%w: there is no file %s: the list of files has all", workflow.ErrNotFound, name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: the execution has no files", workflow.ErrNotFound)
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: there is no file %s: the list of files has all", workflow.ErrNotFound, name)
	}
	return f, nil
}

// attach heads an answer with content of others: a browser stores it, and shows nothing of it.
func attach(w http.ResponseWriter, name, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
}

type exportIn struct {
	ExecutionPath
	Picking
	Format    string   `query:"format" enum:"csv,jsonl,parquet" default:"csv"`
	Columns   []string `query:"columns" maxItems:"200" doc:"in their order; field.NAME is a site field; none: all"`
	Originals bool     `query:"originals" doc:"leave out copies of other pages"`
}

func (s *Server) export(ctx context.Context, in *exportIn) (*huma.StreamResponse, error) {
	e, err := s.Workflows.Execution(ctx, in.job())
	if err != nil {
		return nil, err
	}
	opt := export.Options{Format: export.Format(in.Format), Columns: in.Columns}
	if opt.Keep, err = s.keep(ctx, e.ID, in); err != nil {
		return nil, err
	}
	if err := s.fieldsOf(ctx, e.ID, &opt); err != nil {
		return nil, err
	}
	if err := opt.Validate(); err != nil {
		return nil, problem(ctx, http.StatusUnprocessableEntity, err.Error())
	}
	pages, err := s.Crawls.Pages(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	//nolint:contextcheck // the request has its own
	return stream(func(w http.ResponseWriter, r *http.Request) {
		defer pages.Close()
		attach(w, fmt.Sprintf("%s.%s", e.ID, in.Format), attachment)
		if _, err := export.Run(r.Context(), pages, &patient{ResponseWriter: w}, opt); err != nil {
			s.log.Warn("an export ended early", "execution", e.ID, "error", err)
			panic(http.ErrAbortHandler) // the head is sent: only a cut connection says that it is not whole
		}
	}), nil
}

// keep says which records are exported; nil: all.
func (s *Server) keep(ctx context.Context, id crawl.JobID, in *exportIn) (func(*crawl.Record) bool, error) {
	switch {
	case !in.all():
		if in.Originals && in.Duplicates == "" {
			in.Duplicates = "none"
		}
		return s.Explore.Picked(ctx, id, in.filter())
	case in.Originals:
		return export.Originals, nil
	}
	return nil, nil
}

// fieldsOf finds the site fields that become columns. It reads all pages.
func (s *Server) fieldsOf(ctx context.Context, id crawl.JobID, opt *export.Options) error {
	if (len(opt.Columns) > 0 || opt.Format.Whole()) && !opt.Format.Typed() {
		return nil
	}
	revisions, err := s.Crawls.Revisions(ctx, id)
	if err != nil {
		return err
	}
	var rules []crawl.SiteRule
	if len(revisions) > 0 {
		rules = revisions[len(revisions)-1].Job.Rules
	}
	pages, err := s.Crawls.Pages(ctx, id)
	if err != nil {
		return err
	}
	defer pages.Close()
	opt.Types, err = export.FieldTypes(ctx, pages, rules)
	for name := range opt.Types {
		if len(opt.Columns) == 0 {
			opt.Fields = append(opt.Fields, name)
		}
	}
	return err
}

// patient gives a reader ten seconds for each write, however long the whole takes.
type patient struct{ http.ResponseWriter }

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	// where there is none, none is needed
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime))
	return p.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom: in pieces, each with its time.
func (p *patient) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{p}, struct{ io.Reader }{r}, make([]byte, 256<<10))
}

func (s *Server) getBody(ctx context.Context, in *RecordPath) (*huma.StreamResponse, error) {
	rec, err := s.Explore.Record(ctx, in.job(), in.Key)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(rec.Record)
	if err != nil {
		return nil, err
	}
	data, found, err := s.Crawls.Body(ctx, in.job(), digest)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem(ctx, http.StatusNotFound,
			"its body is not kept: set keep_bodies in the definition, and the next execution keeps bodies")
	}
	//nolint:contextcheck // the request has its own
	return stream(func(w http.ResponseWriter, _ *http.Request) {
		attach(w, rec.Key[:min(len(rec.Key), 16)]+".bin", attachment)
		_, _ = (&patient{ResponseWriter: w}).Write(data) // the client has gone
	}), nil
}
