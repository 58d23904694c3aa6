package node_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Hosts of the synthetic web have languages; so one of them is a topic whose pages a model can tell.
const topicLang = "de"

func topicalWeb() fakeweb.Config {
	cfg := fakeweb.Plain(40, 1200)
	cfg.PageBytes, cfg.Links, cfg.CrossHost = 8<<10, 20, 0.3
	return cfg
}

var examples = map[string][]string{
	"de": {"der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er " +
		"hat dass sie nach wird bei",
		"einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde " +
			"sei"},
	"other": {"the of and to in is that for it with as was on be by at this from or are an have not but which all were " +
		"they one their has there been",
		"de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec son aux " +
			"cette ont ses mais comme",
		"и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой год от так о для ты же все " +
			"тот мочь вы человек"},
}

// topicalJob crawls for pages in one language, from the seeds of the web.
func topicalJob(t *testing.T, srv *fakeweb.Server, change func(*crawl.Theme)) *crawl.Job {
	t.Helper()
	job := jobFor(srv)
	job.Topic = crawl.Theme{Examples: examples[topicLang], Not: examples["other"]}
	if change != nil {
		change(&job.Topic)
	}
	if err := topical.Complete(t.Context(), job, topical.Sources{}); err != nil {
		t.Fatal(err)
	}
	return job
}

// inOrder are the records as they were stored.
func inOrder(t *testing.T, dir string) (out []*crawl.Record) {
	t.Helper()
	for _, line := range lines(t, filepath.Join(dir, "pages.jsonl")) {
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// Records of a topical crawl say how relevant their pages are, and hosts that are not about the topic are left alone
// after their trial.
func TestATopicalCrawlLeavesHostsAlone(t *testing.T) {
	srv := serve(t, topicalWeb())
	dir := t.TempDir()
	crawlAll(t, topicalOptions(t, srv, topicalJob(t, srv, nil), dir))
	for _, r := range inOrder(t, dir) {
		if !r.Relevance.Known() {
			t.Fatalf("%s: its record does not say how relevant it is", r.URL)
		}
		if about := r.Lang == topicLang; about != (r.Relevance.P() > 0.5) {
			t.Errorf("%s, in %s: P %v", r.URL, r.Lang, r.Relevance)
		}
	}
	offTopic(t, srv, dir)
}

func topicalOptions(t *testing.T, srv *fakeweb.Server, job *crawl.Job, dir string) node.LocalOptions {
	opt := optionsFor(t, srv, job, dir)
	opt.Node.SetWindow(8) // fewer requests at once, so that what was found first is heard of before others are chosen
	return opt
}

// offTopic checks that hosts were left out, and that the log says why.
func offTopic(t *testing.T, srv *fakeweb.Server, dir string) {
	t.Helper()
	hosts, reasons := map[string]int{}, map[string]int{}
	for _, r := range inOrder(t, dir) {
		hosts[r.URL.HostKey()+" "+r.Lang]++
	}
	for _, l := range outcomesIn(t, dir) {
		if l.Reason == crawl.ReasonTopic || l.Reason == crawl.ReasonTopicHost {
			reasons[l.Reason]++
			if l.Detail == "" {
				t.Errorf("%s is left out for %s, by no rule", l.URL, l.Reason)
			}
			if l.Reason == crawl.ReasonTopicHost && !strings.Contains(l.Detail, "of its host") {
				t.Errorf("%s: %s", l.URL, l.Detail)
			}
		}
	}
	if reasons[crawl.ReasonTopicHost] == 0 {
		t.Errorf("left out: %v, want hosts", reasons)
	}
	seeds := map[string]bool{}
	for _, s := range srv.Web().Seeds() {
		seeds[strings.Split(s, "/")[2]] = true
	}
	for host, n := range hosts {
		name, lang, _ := strings.Cut(host, " ")
		if lang != topicLang && !seeds[name] && n > 2*crawl.DefaultHostTrial {
			t.Errorf("%d pages of %s, which is off the topic", n, host)
		}
	}
}

// A job that has nothing but examples learns from its first pages. What it learned is a revision, which a crawl that
// goes on keeps.
func TestATopicIsLearnedFromTheFirstPages(t *testing.T) {
	cfg := topicalWeb()
	cfg.Hosts, cfg.Pages = 10, 400
	srv := serve(t, cfg)
	dir := t.TempDir()
	job := func() *crawl.Job {
		j := topicalJob(t, srv, func(topic *crawl.Theme) { topic.Not, topic.HostTrial = nil, -1 })
		j.MaxPages = 600                                            // it learns from a tenth
		j.Politeness.Delay = crawl.Duration(100 * time.Millisecond) // time to have the web wait
		return j
	}
	learnInTheMiddle(t, srv, topicalOptions(t, srv, job(), dir))
	judged := 0
	for _, r := range inOrder(t, dir) {
		if r.Relevance.Known() {
			judged++
			if r.Epoch < 2 {
				t.Errorf("%s was judged by revision %d, which has no model", r.URL, r.Epoch)
			}
		}
	}
	if judged == 0 {
		t.Error("no page was judged")
	}
	l, err := node.OpenLocal(t.Context(), topicalOptions(t, srv, job(), dir))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Job.TopicSeen != 60 || l.Job.TopicModel == "" || len(l.Changes) > 0 {
		t.Errorf("the crawl goes on with a model of %d pages, and changes %v", l.Job.TopicSeen, l.Changes)
	}
}

// learnInTheMiddle crawls, and has the web wait after a hundred requests until the topic was learned: pages are left
// then, however long that takes.
func learnInTheMiddle(t *testing.T, srv *fakeweb.Server, opt node.LocalOptions) {
	t.Helper()
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	var beside sync.WaitGroup
	beside.Go(func() {
		defer srv.Release()
		harness.Within(3*time.Minute, func() bool { return srv.Log().Count() >= 100 })
		srv.Hold()
		harness.Within(3*time.Minute, func() bool {
			job, err := l.Store.Jobs().Job(t.Context(), l.Job.ID)
			return err != nil || job.TopicModel != ""
		})
	})
	defer beside.Wait()
	crawlOpened(t.Context(), t, l)
}

// Examples are given to an engine as texts: it reads no files for others, and fetches nothing out of turn.
func TestAnEngineTakesTextsOnly(t *testing.T) {
	srv := serve(t, fakeweb.Plain(1, 5))
	for _, example := range []string{"/etc/passwd", "http://a.test/"} {
		job := jobFor(srv)
		job.Topic.Examples = []string{example}
		l, err := node.OpenLocal(context.Background(), optionsFor(t, srv, job, t.TempDir()))
		if err == nil {
			_ = l.Close()
			t.Errorf("%q: it was taken", example)
		}
	}
}
