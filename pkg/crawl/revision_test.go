package crawl_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// before is how a program before 0.2 stored a job: under the names of Go's fields. The second lacks what came later.
const (
	before = `{"ID":"old","Seeds":["http://a.test/"],"Scope":"host","Include":null,"Exclude":["/x/"],"Blacklist":"b.txt",` +
		`"BlacklistEntries":["bad.test"],"MaxPages":7,"MaxDepth":2,"PagesPerLevel":0,"PagesPerHost":0,"QueryVariants":1000,"UserAgent":"",` +
		`"Contact":"me@a.test","IgnoreRobots":true,"IgnoreMeta":true,"Sitemaps":false,"KeepParams":true,"NearDuplicate":-1,` +
		`"Politeness":{"Delay":"1.5s","IPDelay":"0s","HostConnections":2,"DownloadFactor":5,"MaxAdaptive":"30s","MaxCrawlDelay":"5m0s"},` +
		`"Retry":{"Max":1,"Base":"5s","SlowMin":"1m0s","SlowMax":"24h0m0s","Forgive":"30m0s"},"Limits":{"MaxBody":"1MiB","MaxHeader":"256KiB",` +
		`"Redirects":10,"Connect":"10s","TLSHandshake":"10s","FirstByte":"30s","Idle":"30s","Total":"3m0s","MinRate":"1KiB","MinRateWindow":"30s",` +
		`"LinksPerPage":6000,"MaxText":"1MiB"},"MediaTypes":["text/html"],"Rules":[{"Name":"r","Host":"","Match":"/p/","Fields":[{"Name":"f",` +
		`"CSS":"h1","XPath":"","Attr":"","Regex":"","List":true,"Type":""}],"Links":[{"Match":"/z/","Weight":9}]}]}`
	beforeShort = `{"ID":"old","Seeds":["http://a.test/"],"MaxDepth":2}`
)

func oldJob() crawl.Job {
	j := crawl.DefaultJob()
	j.Epoch, j.ID, j.Seeds, j.Scope, j.Exclude = 1, "old", []string{"http://a.test/"}, crawl.ScopeHost, []string{"/x/"}
	j.Blacklist, j.BlacklistEntries, j.MaxPages, j.MaxDepth, j.Contact = "b.txt", []string{"bad.test"}, 7, 2, "me@a.test"
	j.IgnoreRobots, j.IgnoreMeta, j.Sitemaps, j.KeepParams, j.NearDuplicate = true, true, false, true, -1
	j.Politeness.Delay, j.Politeness.IPDelay, j.Politeness.HostConnections = crawl.Duration(1500*time.Millisecond), 0, 2
	j.Retry.Max, j.Limits.MaxBody, j.MediaTypes = 1, 1<<20, []string{"text/html"}
	j.Rules = []crawl.SiteRule{{Name: "r", Match: "/p/", Fields: []crawl.FieldRule{{Name: "f", CSS: "h1", List: true}},
		Links: []crawl.LinkWeight{{Match: "/z/", Weight: 9}}}}
	return j
}

func TestAJobIsStoredByTheKeysOfTheJobFile(t *testing.T) {
	want := oldJob()
	data, err := crawl.EncodeJob(&want)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"max_depth":2`, `"delay":"1.5s"`, `"ignore_nofollow":true`,
		`"blacklist_entries":["bad.test"]`} {
		if !strings.Contains(string(data), key) {
			t.Errorf("%s is not in %s", key, data)
		}
	}
	got, err := crawl.DecodeJob(data, 0)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	short, err := crawl.DecodeJob([]byte(`{"id":"x","max_depth":3}`), 4)
	def := crawl.DefaultJob()
	if def.ID, def.MaxDepth, def.Epoch = "x", 3, 4; err != nil || !reflect.DeepEqual(*short, def) {
		t.Errorf("what is not said has not its default: %+v, %v", short, err)
	}
}

func TestAJobOfTheVersionBeforeIsRead(t *testing.T) {
	want := oldJob()
	got, err := crawl.DecodeJob([]byte(before), 1)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	short, err := crawl.DecodeJob([]byte(beforeShort), 1)
	if err != nil || short.MaxDepth != 2 || short.MaxPages != 10_000 {
		t.Errorf("got %+v, %v", short, err)
	}
	back, err := crawl.EncodeJobBefore(&want)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"MaxPages":7`, `"Delay":"1.5s"`, `"IgnoreMeta":true`, `"CSS":"h1"`, `"Weight":9`} {
		if !strings.Contains(string(back), key) {
			t.Errorf("the version before does not find %s in %s", key, back)
		}
	}
}

func TestAKeyThatNobodyKnowsIsAnError(t *testing.T) {
	for _, data := range []string{`{"id":"x","max_deph":3}`, `{"id":"x","limits":{"max_bodi":1}}`,
		`{"ID":"x","MaxDeph":3}`, `[]`, `{"id":`} {
		if _, err := crawl.DecodeJob([]byte(data), 1); err == nil {
			t.Errorf("%s was taken", data)
		}
	}
}

func TestChangesSayWhatARevisionChanges(t *testing.T) {
	from := oldJob()
	to := oldJob()
	to.Epoch, to.MaxDepth, to.Politeness.Delay, to.Exclude = 2, 3, crawl.Duration(time.Minute),
		[]string{"/x/", "/calendar/"}
	to.Include = []string{}
	var got []string
	for _, c := range crawl.Changes(&from, &to) {
		got = append(got, c.String())
	}
	want := []string{`exclude: ["/x/"] → ["/x/", "/calendar/"]`, "max_depth: 2 → 3", "politeness.delay: 1.5s → 1m0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of elements that keep their names a change says what differs.
func TestChangesSayWhatDiffersWithinAList(t *testing.T) {
	node := func(keep string) crawl.PluginNode {
		return crawl.PluginNode{ID: "a", At: crawl.AtRecord, Use: "builtin/lang@1", With: crawl.Settings{"keep": keep}}
	}
	from, to := oldJob(), oldJob()
	other := crawl.PluginNode{ID: "b", At: crawl.AtRecord, Use: "builtin/sample@1"}
	from.Pipeline.Nodes, to.Pipeline.Nodes = []crawl.PluginNode{node("en"), other}, []crawl.PluginNode{other, node("de")}
	to.Pipeline.Nodes[1].When = "record.depth > 2"
	want := `pipeline.nodes: [a=builtin/lang@1 when "" with {"keep":"en"}, b=builtin/sample@1] → ` +
		`[b=builtin/sample@1, a=builtin/lang@1 when "record.depth > 2" with {"keep":"de"}]`
	if got := crawl.Changes(&from, &to); len(got) != 1 || got[0].String() != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatCannotChangeIsNamed(t *testing.T) {
	for key, set := range map[string]func(*crawl.Job){
		"id": func(j *crawl.Job) { j.ID = "other" }, "keep_params": func(j *crawl.Job) { j.KeepParams = false },
		"near_duplicate": func(j *crawl.Job) { j.NearDuplicate = 3 },
	} {
		from, to := oldJob(), oldJob()
		set(&to)
		if err := crawl.CheckChange(&from, &to); !crawl.IsPermanent(err) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
		if err := crawl.CheckChange(&to, &to); err != nil {
			t.Errorf("%s: nothing changed: %v", key, err)
		}
	}
}

func TestOnlyRulesWiden(t *testing.T) {
	from, slower, wider := oldJob(), oldJob(), oldJob()
	slower.Politeness.Delay, slower.Retry.Max, slower.Rules = 0, 0, nil
	wider.PagesPerHost = 9
	if crawl.MayWiden(&from, &slower) || !crawl.MayWiden(&from, &wider) {
		t.Error("a delay widens, or a budget does not")
	}
}

func TestPerRevisionMakesOnce(t *testing.T) {
	made := 0
	first, second := oldJob(), oldJob()
	jobs := crawl.StaticJobs{"old": &first}
	p := crawl.NewPerRevision(jobs, func(j *crawl.Job) (int, error) { made++; return j.MaxDepth, nil })
	at := func(epoch uint32) (int, error) {
		_, of, err := p.At(context.Background(), "old", epoch)
		return of, err
	}
	for range 3 {
		if of, err := at(0); of != 2 || err != nil {
			t.Fatal(of, err)
		}
	}
	if _, err := at(2); !crawl.IsPermanent(err) {
		t.Errorf("a revision that is not known: error %v, want a permanent one", err)
	}
	second.MaxDepth = 9
	jobs["old"] = &second // deleted, and submitted again
	if of, err := at(1); of != 9 || err != nil || made != 2 {
		t.Errorf("got %d, %v, made %d times; want 9, made twice", of, err, made)
	}
	bad := crawl.NewPerRevision(jobs, func(*crawl.Job) (int, error) { return 0, errors.New("no") })
	if _, _, err := bad.At(context.Background(), "old", 1); err == nil {
		t.Error("an error of make is lost")
	}
}

// withJob are made of what a job file names, and go with the job.
var withJob = []string{"BlacklistEntries", "TopicModel", "TopicExamples", "TopicSeen", "ClassModel"}

// TestEverySettingHasItsKey: stores, changes and messages go by the keys of the job file.
func TestEverySettingHasItsKey(t *testing.T) {
	var walk func(t *testing.T, of reflect.Type)
	walk = func(t *testing.T, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			// new keys are left out where they say nothing: older programs read the job then
			json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			yaml, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if json == "" || json != yaml && !slices.Contains(withJob, f.Name) {
				t.Errorf("%s.%s: json:%q and yaml:%q", of.Name(), f.Name, json, yaml)
			}
			switch elem := f.Type; {
			case elem.Kind() == reflect.Struct:
				walk(t, elem)
			case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Struct:
				walk(t, elem.Elem())
			}
		}
	}
	walk(t, reflect.TypeFor[crawl.Job]())
}
