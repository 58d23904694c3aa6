package crawl_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestEventsSayWhatTheyAreAbout(t *testing.T) {
	a, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "j", URL: a}
	page := crawl.Page{Task: task}
	one, two := crawl.TaskList{task}, crawl.TaskList{task, {Job: "j"}}
	for name, tt := range map[string]struct {
		event crawl.Event
		want  crawl.Subject
	}{
		"fetch":    {&crawl.Fetch{Task: task}, crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"page":     {&page, crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"document": {&crawl.Document{Page: page}, crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"links": {&crawl.Links{Task: task, Links: make(crawl.LinkList, 9)},
			crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"outcome": {&crawl.Outcome{Task: task}, crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"split of a task": {&crawl.Filtered{Batch: crawl.Batch{Job: "j", Tasks: one}},
			crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"claim of tasks": {&crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: two}}, crawl.Subject{Job: "j", URLs: 2}},
		"claim of a task more": {&crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: one,
			Exclusions: make(crawl.ExclusionList, 2)}}, crawl.Subject{Job: "j", URLs: 3}},
		"split of exclusion": {&crawl.Filtered{Batch: crawl.Batch{Job: "j", Exclusions: crawl.ExclusionList{{URL: a}}}},
			crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"split of nothing": {&crawl.Filtered{Batch: crawl.Batch{Job: "j"}}, crawl.Subject{Job: "j"}},
		"fresh task":       {&crawl.Fresh{Tasks: one}, crawl.Subject{Job: "j", URL: a, URLs: 1}},
		"fresh tasks":      {&crawl.Fresh{Tasks: two}, crawl.Subject{Job: "j", URLs: 2}},
		"nothing fresh":    {&crawl.Fresh{}, crawl.Subject{}},
	} {
		s, ok := tt.event.(crawl.Subjected)
		if !ok {
			t.Errorf("%s: says nothing", name)
		} else if got := s.Subject(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
