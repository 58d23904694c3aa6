package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// MaxSource bounds the text of a definition.
const MaxSource = 1 << 20

// definition is a definition that was read and checked.
type definition struct {
	job       *crawl.Job
	canonical []byte
	sha256    string
}

// read reads a definition. Where it has faults, the error is an *Invalid. A plug-in that the version before it has
// means the same bytes in it, and each other one what its name means now; before may be nil.
func (m *Manager) read(source string, before *Version) (*definition, error) {
	if len(source) > MaxSource {
		return nil, &Invalid{[]Fault{{Message: fmt.Sprintf("the definition has %d bytes; at most %d are read", len(source),
			MaxSource)}}}
	}
	job, err := jobfile.Parse([]byte(source))
	if err != nil {
		return nil, &Invalid{faultsOf(source, err)}
	}
	if before != nil {
		old, err := crawl.DecodeJob(before.Definition, 0)
		if err != nil {
			return nil, fmt.Errorf("version %d of the workflow: %w", before.Number, err)
		}
		job.Pipeline.KeepDigests(&old.Pipeline)
	}
	err = m.check(&job)
	if err == nil && m.opt.Pin != nil {
		err = m.opt.Pin(&job)
	}
	if err != nil {
		return nil, &Invalid{withNodes(faultsOf(source, err), &job)}
	}
	d := &definition{job: &job}
	if d.canonical, err = canonical(&job); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(d.canonical)
	d.sha256 = hex.EncodeToString(sum[:])
	return d, nil
}

// check validates a definition: it need not have an id, since each execution has its own.
func (m *Manager) check(job *crawl.Job) error {
	named := *job
	if named.ID == "" {
		named.ID = "x"
	}
	if err := crawl.CheckPatternSizes(&named); err != nil {
		return err // nothing of it is to be compiled
	}
	errs := []error{named.Validate(), filesOf(job)}
	if m.opt.Check != nil {
		errs = append(errs, m.opt.Check(&named))
	}
	return joined(errs)
}

// filesOf finds files that are named by a relative path: a definition lies in no directory.
func filesOf(job *crawl.Job) error {
	var errs []error
	for _, f := range []struct{ key, path string }{
		{"seed_list", job.SeedList}, {"blacklist", job.Blacklist}, {"cookies_file", job.CookiesFile}} {
		if f.path != "" && !filepath.IsAbs(f.path) {
			errs = append(errs, &crawl.KeyError{Key: f.key,
				Problem: fmt.Sprintf("%q: want the whole path of the file on the server, from / on", f.path)})
		}
	}
	job.Pipeline.MapFiles(func(key, file string) string {
		if !filepath.IsAbs(file) {
			errs = append(errs, &crawl.KeyError{Key: key,
				Problem: fmt.Sprintf("%q: want the whole path of the file on the server, from / on", file)})
		}
		return file
	})
	return joined(errs)
}

// canonical is the definition as JSON with its keys in order and without an id: equal definitions are equal bytes.
func canonical(job *crawl.Job) ([]byte, error) {
	plain := *job
	plain.ID = ""
	data, err := crawl.EncodeJob(&plain)
	if err != nil {
		return nil, err
	}
	var keys map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&keys); err != nil {
		return nil, fmt.Errorf("canonical form of a definition: %w", err)
	}
	return json.Marshal(keys)
}

// override returns the job of an execution.
func override(job *crawl.Job, o Overrides) *crawl.Job {
	out := *job
	if len(o.Seeds) > 0 {
		out.SeedFrom(slices.Clone(o.Seeds))
	}
	if o.MaxPages != nil {
		out.MaxPages = *o.MaxPages
	}
	if o.MaxDepth != nil {
		out.MaxDepth = *o.MaxDepth
	}
	return &out
}
