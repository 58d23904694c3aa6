package crawl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Revision is the specification of a job from a moment on. Its epoch is Job.Epoch: the first is 1.
type Revision struct {
	Job *Job
	At  time.Time
}

// JobStore keeps jobs and all their revisions.
type JobStore interface {
	Jobs
	// AddRevision makes the specification the current one and returns it with its epoch, one more than the epoch
	// before. The first revision is that of a new job. An unchanged specification makes no revision. A change of a
	// setting that is fixed once the job has begun is a permanent error that names the key.
	AddRevision(ctx context.Context, job *Job) (current *Job, added bool, err error)
	// AddNext is AddRevision for a specification that was made of the revision with the given epoch (0: the job was not
	// known). It returns ErrRevised, and stores nothing, if another revision applies by now; a caller that reads the job
	// after that sees that one.
	AddNext(ctx context.Context, job *Job, epoch uint32) (current *Job, added bool, err error)
	// Revisions returns all of them, the first one first; none of a job that is not known.
	Revisions(ctx context.Context, id JobID) ([]Revision, error)
	// Sweep returns how far the sweep of a job has come; zero: none was begun.
	Sweep(ctx context.Context, id JobID) (Sweep, error)
	// SetSweep stores how far the sweep has come. It returns ErrSweepOver if the epoch of s is not that of the last
	// revision.
	SetSweep(ctx context.Context, id JobID, s Sweep) error
}

// ErrRevised says that the job is at another revision than the one that was to be followed.
var ErrRevised = errors.New("somebody else revised the job meanwhile")

// ErrSweepOver says that a newer revision has begun a sweep of its own.
var ErrSweepOver = errors.New("a newer revision of the job has begun a sweep of its own")

// Sweep is how far the look at what was left out has come, which a revision that lets in more asks for.
type Sweep struct {
	Epoch  uint32     `json:"epoch"`  // of the revision by whose rules it judges
	After  weburl.Key `json:"after"`  // the last that was judged
	Passed bool       `json:"passed"` // it has come to the last URL once
	Done   bool       `json:"done"`   // all were judged, and nothing of an older epoch was on its way any more
}

// Due reports whether there is anything left to judge.
func (s Sweep) Due() bool { return s.Epoch > 1 && !s.Done }

// Next is the state of the sweep after a revision with the given epoch. A sweep is due if the revision may let in more
// URLs, or if a sweep was running.
func (s Sweep) Next(from, to *Job, epoch uint32) Sweep {
	return Sweep{Epoch: epoch, Done: !s.Due() && !MayWiden(from, to)}
}

// LeftOut is a URL that was left out, with what it takes to judge it again.
type LeftOut struct {
	Task   Task // Epoch: that by whose rules it was left out
	Reason string
	Rule   string // that decided; empty: not noted
	// Dismissed says that the URL had been claimed when it was left out.
	Dismissed bool
}

// LeftOuts walks the URLs of a job that were left out. It shares its records with URLSet and Ledger.
type LeftOuts interface {
	// LeftOut returns up to n excluded URLs with keys above after, in the order of their keys. Fewer than n means that
	// no more follow. URLs of which only the key was stored are skipped.
	LeftOut(ctx context.Context, job JobID, after weburl.Key, n int) ([]LeftOut, error)
	// WhyLeftOut returns why a URL is left out; found is false where it is not.
	WhyLeftOut(ctx context.Context, job JobID, k weburl.Key) (l LeftOut, found bool, err error)
	// Release undoes the dismissal of URLs. They are then only excluded, for the same reason, and can be claimed again.
	// Other URLs are left unchanged.
	Release(ctx context.Context, job JobID, keys ...weburl.Key) error
}

// EpochOf is an epoch as it is in messages and records: 0 is the first.
func EpochOf(e uint32) uint32 { return max(e, 1) }

// Change is a setting that a revision changes.
type Change struct {
	Key  string `json:"key"` // as in a job file; a section's with its name and a dot before
	From string `json:"from"`
	To   string `json:"to"`
}

// String says it for people.
func (c Change) String() string { return fmt.Sprintf("%s: %s → %s", c.Key, c.From, c.To) }

// Changes returns what differs between two specifications of a job, in the order of the job file.
func Changes(from, to *Job) []Change {
	return changes(nil, "", reflect.ValueOf(*from), reflect.ValueOf(*to))
}

func changes(list []Change, prefix string, from, to reflect.Value) []Change {
	for i := range from.NumField() {
		key := keyOf(from.Type().Field(i))
		a, b := from.Field(i), to.Field(i)
		switch {
		case key == "-":
		case a.Kind() == reflect.Struct:
			list = changes(list, prefix+key+".", a, b)
		case a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0:
		case !reflect.DeepEqual(a.Interface(), b.Interface()):
			list = append(list, changed(prefix+key, a, b))
		}
	}
	return list
}

// changed describes a change; of a list what goes and what comes.
func changed(key string, a, b reflect.Value) Change {
	if a.Kind() != reflect.Slice {
		return Change{key, settingText(a.Interface()), settingText(b.Interface())}
	}
	before, after := settingTexts(a), settingTexts(b)
	tellApart(a, b, before, after)
	gone := slices.DeleteFunc(slices.Clone(before), func(s string) bool { return slices.Contains(after, s) })
	come := slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
	if len(gone)+len(come) == 0 || len(before)+len(after) <= maxListed {
		gone, come = before, after
	}
	return Change{key, listText(gone), listText(come)}
}

// maxListed is how many elements of a list are told.
const maxListed = 6

func listText(list []string) string {
	if n := len(list); n > maxListed {
		list = append(slices.Clone(list[:maxListed]), fmt.Sprintf("and %d more", n-maxListed))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func settingTexts(list reflect.Value) []string {
	out := make([]string, list.Len())
	for i := range out {
		out[i] = settingText(list.Index(i).Interface())
	}
	return out
}

// tellApart adds to the names of elements that are in both lists what differs between them: "a=x → a=x" says nothing.
func tellApart(a, b reflect.Value, before, after []string) {
	texts := slices.Clone(after)
	for i, text := range before {
		j := slices.Index(texts, text)
		if j < 0 || a.Index(i).Kind() != reflect.Struct {
			continue
		}
		from, to := a.Index(i), b.Index(j)
		for k := range from.NumField() {
			f := from.Type().Field(k)
			if !f.IsExported() || keyOf(f) == "-" {
				continue
			}
			key, x, y := keyOf(f), from.Field(k).Interface(), to.Field(k).Interface()
			if !reflect.DeepEqual(x, y) {
				before[i] += " " + key + " " + clipped(settingText(x))
				after[j] += " " + key + " " + clipped(settingText(y))
			}
		}
	}
}

// clipped bounds what is told of a setting of an element.
func clipped(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func settingText(v any) string {
	switch v := v.(type) {
	case fmt.Stringer:
		return v.String()
	case SiteRule:
		return v.Name
	case Policy:
		return v.Name
	case PluginNode:
		return v.ID + "=" + v.Use
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "depth > 2" is read by people
	if err := enc.Encode(v); err != nil {
		panic(err) // settings are plain
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\\`, `\`)
}

// fixed are the settings that a job keeps: the keys of its URLs, and the fingerprints of its pages, were made by them.
var fixed = map[string]string{
	"id":             "it names the crawl",
	"keep_params":    "the URLs of the crawl are known by the names that it gave them",
	"near_duplicate": "the pages of the crawl were told apart by it",
}

// CheckChange reports, as a permanent error, what a revision changes that no job can change once it has begun.
func CheckChange(from, to *Job) error {
	var errs []error
	for _, c := range Changes(from, to) {
		if why, ok := fixed[c.Key]; ok {
			errs = append(errs, fmt.Errorf("%s cannot change in a crawl that has begun (%s): %s; begin another crawl, or this "+
				"one anew",
				c.Key, c, why))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return Permanent(errors.Join(errs...))
}

// widening are the settings that exclude URLs. max_pages is among them because it bounds the sitemaps. A revision that
// changes none of them lets in no URL that was excluded.
var widening = []string{"seeds", "seed_list", "seeds_only", "scope", "include", "exclude",
	"ext", "skip_ext", "blacklist", "blacklist_entries", "max_depth", "max_pages",
	"pages_per_level", "pages_per_host", "pages_per_domain", "query_variants", "ignore_robots", "ignore_nofollow",
	"sitemaps", "limits.links_per_page", "assets.scope", "assets.max", "assets.per_host", "pipeline.nodes",
	"topic.examples", "topic.model", "topic.threshold", "topic.host_trial"}

// MayWiden reports whether a revision may let in what was left out.
func MayWiden(from, to *Job) bool {
	return slices.ContainsFunc(Changes(from, to), func(c Change) bool { return slices.Contains(widening, c.Key) })
}

// SameRecords reports whether two specifications make the same records of the same page.
func SameRecords(a, b *Job) bool {
	return reflect.DeepEqual(a.Rules, b.Rules) && reflect.DeepEqual(a.Select, b.Select) &&
		a.Limits.MaxText == b.Limits.MaxText && a.Limits.MaxBody == b.Limits.MaxBody &&
		a.Limits.LinksPerPage == b.Limits.LinksPerPage && reflect.DeepEqual(a.Pipeline, b.Pipeline) &&
		a.ClassModel == b.ClassModel
}
