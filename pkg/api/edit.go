package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Edit says what the settings of an execution are to become. One of patch, source and undo is given.
type Edit struct {
	Patch  map[string]any `json:"patch,omitempty" doc:"JSON merge patch (RFC 7396) of the settings, by the keys of a job file"`
	Source string         `json:"source,omitempty" maxLength:"1000000" doc:"a whole definition (YAML); the id stays that of the execution"`
	Undo   uint32         `json:"undo,omitempty" doc:"epoch of a revision: the settings before it"`
	Epoch  uint32         `json:"epoch,omitempty" doc:"of the revision that was edited; 409 if it is no longer the last one; 0: not checked"`

	matched bool // the epoch is that of an If-Match header
}

// match takes the epoch of an If-Match header.
func (e *Edit) match(ctx context.Context, header string) error {
	if header == "" || header == "*" {
		return nil
	}
	n, err := strconv.ParseUint(strings.Trim(strings.TrimPrefix(header, "W/"), `"`), 10, 32)
	if err != nil || n == 0 || e.Epoch != 0 && e.Epoch != uint32(n) {
		return problem(ctx, http.StatusBadRequest,
			fmt.Sprintf("If-Match: %s is not the epoch of the revision that was edited", header))
	}
	e.Epoch, e.matched = uint32(n), true
	return nil
}

// of is what the edit makes of a job.
func (e *Edit) of(ctx context.Context, s *Server, job *crawl.Job) (*crawl.Job, error) {
	if at := crawl.EpochOf(job.Epoch); e.Epoch != 0 && e.Epoch != at {
		return nil, e.moved(ctx, at)
	}
	given := 0
	for _, is := range []bool{e.Patch != nil, e.Source != "", e.Undo != 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, problem(ctx, http.StatusUnprocessableEntity,
			"an edit has one of patch, source and undo: give one of them")
	}
	switch {
	case e.Source != "":
		next, err := s.checked(ctx, e.Source)
		if err != nil {
			return nil, err
		}
		next.ID, next.Epoch = job.ID, job.Epoch
		next.KeepBlacklist(job)
		return next, nil
	case e.Undo != 0:
		return e.undone(ctx, s, job)
	}
	return merged(ctx, job, e.Patch)
}

// moved says that another edit was faster: 412 to a condition of the request, 409 to one of its body.
func (e *Edit) moved(ctx context.Context, at uint32) error {
	if e.matched {
		return problem(ctx, http.StatusPreconditionFailed,
			fmt.Sprintf("the settings are at revision %d now, not at %d: read them again", at, e.Epoch))
	}
	return fmt.Errorf("%w: the settings are at revision %d now: read them again", workflow.ErrConflict, at)
}

// undone is the job before the revision that is taken back.
func (e *Edit) undone(ctx context.Context, s *Server, job *crawl.Job) (*crawl.Job, error) {
	all, err := s.Crawls.Revisions(ctx, job.ID)
	if err != nil {
		return nil, err
	}
	for i, r := range all {
		if crawl.EpochOf(r.Job.Epoch) != e.Undo {
			continue
		}
		if i == 0 {
			return nil, problem(ctx, http.StatusUnprocessableEntity,
				fmt.Sprintf("revision %d is the first: there is nothing before it", e.Undo))
		}
		next := *all[i-1].Job
		next.Epoch = job.Epoch
		return &next, nil
	}
	return nil, fmt.Errorf("revision %d of %s: %w", e.Undo, job.ID, workflow.ErrNotFound)
}

// merged is a job with a merge patch. A key that no job has is an error; one that is null has its default.
func merged(ctx context.Context, job *crawl.Job, patch map[string]any) (*crawl.Job, error) {
	data, err := job.Settings()
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	whole = mergePatch(whole, patch)
	if data, err = json.Marshal(whole); err != nil {
		return nil, err
	}
	fresh, err := settled(data, whole)
	if err != nil {
		return nil, problem(ctx, http.StatusUnprocessableEntity,
			"the patch cannot be applied: "+unsettled(data, err))
	}
	fresh.ID, fresh.Epoch = job.ID, job.Epoch
	fresh.KeepBlacklist(job)
	return fresh, nil
}

// unsettled says why settings cannot be read, in the words of job files where these have some: JSON is YAML as well.
func unsettled(data []byte, err error) string {
	if _, inFile := jobfile.Parse(data); inFile != nil {
		faults := jobfile.Faults(data, inFile)
		all := make([]string, len(faults))
		for i, f := range faults {
			all[i] = f.Message
		}
		return strings.Join(all, "; ")
	}
	// YAML takes "yes" for true, JSON does not.
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) && e.Type.Kind() == reflect.Bool {
		return e.Field + ": want true or false, not a " + e.Value
	}
	return err.Error()
}

// settled reads settings. What they do not name has its default, which is the preset's for politeness.
func settled(data []byte, keys map[string]any) (*crawl.Job, error) {
	fresh := crawl.DefaultJob()
	if p, _ := keys["politeness"].(map[string]any); p != nil {
		name, _ := p["preset"].(string)
		if preset, ok := crawl.PresetPoliteness(crawl.Preset(name)); ok {
			fresh.Politeness = preset
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&fresh)
	return &fresh, err
}

// mergePatch is RFC 7396.
func mergePatch(into, patch map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for key, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			inner, _ := into[key].(map[string]any)
			into[key] = mergePatch(inner, v)
		default:
			into[key] = value
		}
	}
	return into
}
