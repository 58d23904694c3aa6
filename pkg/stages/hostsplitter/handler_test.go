package hostsplitter_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ring owns hosts by their third letter.
type ring struct {
	epoch uint64
	err   error
}

func (r ring) View() (hostsplitter.View, error) { return r, nil }

func (r ring) Epoch() uint64 { return r.epoch }

func (r ring) Owner(_ context.Context, u weburl.URL) (string, error) {
	return "node-" + u.HostKey()[2:3], r.err
}

func urlOf(t rapid.TB, host, n int) weburl.URL {
	u, err := weburl.Parse(fmt.Sprintf("http://h%02d.test/%d", host, n))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEveryURLGoesToTheOwnerOfItsHostInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := &crawl.Filtered{Batch: crawl.Batch{Job: "j"}}
		for i, h := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 40).Draw(t, "hosts of tasks") {
			in.Tasks = append(in.Tasks, crawl.Task{Job: "j", URL: urlOf(t, h, i), Depth: i, Repeat: i%2 == 0})
		}
		for i, h := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 40).Draw(t, "hosts of exclusions") {
			in.Exclusions = append(in.Exclusions, crawl.Exclusion{URL: urlOf(t, h, i), Reason: "scope", Depth: i})
		}
		events, err := hostsplitter.New(ring{}, nil).Handle(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		tasks, exclusions := map[string][]crawl.Task{}, map[string][]crawl.Exclusion{}
		for _, x := range in.Tasks {
			n := "node-" + x.URL.HostKey()[2:3]
			tasks[n] = append(tasks[n], x)
		}
		for _, x := range in.Exclusions {
			n := "node-" + x.URL.HostKey()[2:3]
			exclusions[n] = append(exclusions[n], x)
		}
		seen := map[string]bool{}
		for _, e := range events {
			c := e.(*crawl.Claim)
			if seen[c.Node] || c.Job != "j" {
				t.Errorf("claim for job %s and node %s, which had one: %v", c.Job, c.Node, seen[c.Node])
			}
			seen[c.Node] = true
			if fmt.Sprint(c.Tasks) != fmt.Sprint(tasks[c.Node]) || fmt.Sprint(c.Exclusions) != fmt.Sprint(exclusions[c.Node]) {
				t.Errorf("node %s got %v and %v, want %v and %v", c.Node, c.Tasks, c.Exclusions, tasks[c.Node], exclusions[c.Node])
			}
			delete(tasks, c.Node)
			delete(exclusions, c.Node)
		}
		if len(tasks)+len(exclusions) > 0 {
			t.Errorf("left over: %v, %v", tasks, exclusions)
		}
	})
}

// Links of other schemes have no host: they go with the page that has them.
func TestLinksOfOtherSchemesGoToTheOwnerOfTheirPage(t *testing.T) {
	in := &crawl.Filtered{Batch: crawl.Batch{Job: "j", Tasks: []crawl.Task{{Job: "j", URL: urlOf(t, 10, 1)}}}}
	for _, raw := range []string{"mailto:a@b.test", "tel:1"} {
		u, _ := weburl.ParseForeign(raw)
		in.Foreign = append(in.Foreign, crawl.Exclusion{URL: u, Reason: crawl.ReasonScheme, Referrer: urlOf(t, 27, 3)})
	}
	events, err := hostsplitter.New(ring{}, nil).Handle(context.Background(), in)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, error %v", len(events), err)
	}
	own, page := events[0].(*crawl.Claim), events[1].(*crawl.Claim)
	if own.Node != "node-0" || len(own.Tasks) != 1 || len(own.Foreign) != 0 || page.Node != "node-7" ||
		len(page.Tasks) != 0 || len(page.Foreign) != 2 {
		t.Errorf("got %+v and %+v", own, page)
	}
}

func TestARingWithoutAnswerSendsNothing(t *testing.T) {
	down := errors.New("no ring")
	in := &crawl.Filtered{Batch: crawl.Batch{Tasks: []crawl.Task{{URL: urlOf(t, 1, 1)}}}}
	events, err := hostsplitter.New(ring{err: down}, nil).Handle(context.Background(), in)
	if !errors.Is(err, down) || len(events) > 0 {
		t.Errorf("got %d events and error %v", len(events), err)
	}
	if node, err := (hostsplitter.OneNode{}).Owner(context.Background(), urlOf(t, 1, 1)); node != "" || err != nil {
		t.Errorf("a single node gave %q, %v", node, err)
	}
}

func TestTrackedPagesAreSplitIntoShares(t *testing.T) {
	page := urlOf(t, 0, 0)
	for name, tt := range map[string]struct {
		tasks []crawl.Task
		page  weburl.URL
		want  []string // node and share of each claim
	}{
		"nobody waits":   {tasks: []crawl.Task{{URL: urlOf(t, 1, 0)}}, want: []string{"node-1 <nil>"}},
		"nothing at all": {want: nil},
		"two nodes": {tasks: []crawl.Task{{URL: urlOf(t, 1, 0)}, {URL: urlOf(t, 2, 0)}, {URL: urlOf(t, 1, 0)}}, page: page,
			want: []string{"node-1 &{7 0 2}", "node-2 &{7 1 2}"}},
		"no link": {page: page, want: []string{" &{7 0 1}"}},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := hostsplitter.New(ring{epoch: 7}, nil).Handle(context.Background(),
				&crawl.Filtered{Batch: crawl.Batch{Job: "j", Tasks: tt.tasks, Page: tt.page}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				c := e.(*crawl.Claim)
				got = append(got, fmt.Sprintf("%s %v", c.Node, c.Share))
				if c.Page != tt.page || c.Job != "j" {
					t.Errorf("claim of page %s, job %s", c.Page, c.Job)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("claims %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWhatIsSaidOfABatchIsSaidOfEachShare: a field of a batch that the splitter does not know would be lost here.
func TestWhatIsSaidOfABatchIsSaidOfEachShare(t *testing.T) {
	in := &crawl.Filtered{Batch: crawl.Batch{Job: "j", Page: urlOf(t, 1, 1), Again: true, Epoch: 3,
		Tasks: []crawl.Task{{Job: "j", URL: urlOf(t, 1, 2)}, {Job: "j", URL: urlOf(t, 2, 2)}}}}
	events, err := hostsplitter.New(ring{}, nil).Handle(context.Background(), in)
	if err != nil || len(events) < 2 {
		t.Fatalf("%d events, error %v", len(events), err)
	}
	for _, e := range events {
		got := e.(*crawl.Claim).Batch
		want := reflect.ValueOf(in.Batch)
		for i := range want.NumField() {
			name := want.Type().Field(i).Name
			if want.Field(i).Kind() != reflect.Slice &&
				!reflect.DeepEqual(reflect.ValueOf(got).Field(i).Interface(), want.Field(i).Interface()) {
				t.Errorf("%s is %v in a share, want %v", name, reflect.ValueOf(got).Field(i), want.Field(i))
			}
		}
	}
}
