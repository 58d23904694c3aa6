package due

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// refusedFor is how long a resource that may not be fetched is not judged again.
const refusedFor = time.Hour

// resources takes what renders ask for out of a batch: it is in no ledger, as it expires. It returns what is left, and
// the tasks of resources that nobody fetches yet.
func (h *Handler) resources(ctx context.Context, job *crawl.Job,
	c *crawl.Claim) (tasks []crawl.Task, excl []crawl.Exclusion, fresh []crawl.Task, err error) {
	tasks, excl = c.Tasks, c.Exclusions
	some := false
	for i := range tasks {
		some = some || tasks[i].Kind == crawl.KindResource
	}
	for i := range excl {
		some = some || excl[i].Kind == crawl.KindResource
	}
	if !some {
		return tasks, excl, nil, nil
	}
	if h.deps.Resources == nil {
		return nil, nil, nil, crawl.Permanent(
			fmt.Errorf("job %s asks for resources of renders; no store for them is open here", job.ID))
	}
	now := time.Now()
	tasks, excl = nil, nil // events are not changed
	var asked []crawl.Task
	for i := range c.Tasks {
		if c.Tasks[i].Kind == crawl.KindResource {
			asked = append(asked, c.Tasks[i])
		} else {
			tasks = append(tasks, c.Tasks[i])
		}
	}
	for i := range c.Exclusions {
		x := &c.Exclusions[i]
		if x.Kind != crawl.KindResource {
			excl = append(excl, *x)
			continue
		}
		r := crawl.Resource{URL: x.URL, At: now, Expires: now.Add(refusedFor), Refused: x.Reason}
		if err := h.deps.Resources.PutResource(ctx, job.ID, r); err != nil {
			return nil, nil, nil, fmt.Errorf("note that %s is not to be fetched: %w", x.URL, err)
		}
	}
	fresh, err = h.want(ctx, job, now, asked)
	return tasks, excl, fresh, err
}

// want returns the tasks of resources that are to be fetched.
func (h *Handler) want(ctx context.Context, job *crawl.Job, now time.Time,
	asked []crawl.Task) (fresh []crawl.Task, err error) {
	if len(asked) == 0 {
		return nil, nil
	}
	us := make([]weburl.URL, len(asked))
	for i := range asked {
		us[i] = asked[i].URL
	}
	answers, err := h.deps.Resources.Want(ctx, job.ID, pipeline.DeliveryOf(ctx).ID, now, us)
	if err != nil {
		return nil, fmt.Errorf("want %d resources, the first %s: %w", len(us), us[0], err)
	}
	for i, a := range answers {
		if a == crawl.Known {
			continue
		}
		t := asked[i]
		t.Visit = int(now.Unix() / 60) // a later want is another message
		t.Repeat = a == crawl.Repeat
		fresh = append(fresh, t)
	}
	return fresh, nil
}

// gained tells the test of a rendered page's template how many URLs of it nobody had claimed.
func (h *Handler) gained(ctx context.Context, job *crawl.Job, c *crawl.Claim, fresh []crawl.Task) error {
	if c.Render == nil || h.deps.Renders == nil {
		return nil
	}
	n := 0
	for i := range fresh {
		if fresh[i].Finds == 0 && !fresh[i].Repeat {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	worth := job.Render.Filled().Worth.D()
	_, err := h.deps.Renders.ChangeTemplate(ctx, job.ID, c.Render.Host, c.Render.Template,
		func(t *crawl.RenderTemplate) bool {
			return decide.Links(t, c.Render.By, n, worth, time.Now())
		})
	if err != nil {
		return fmt.Errorf("note what the render of a page of %s gained: %w", c.Render.Host, err)
	}
	return nil
}
