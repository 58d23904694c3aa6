package rabbit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// limits are the keys of policies by which a broker drops messages, or takes no more. Queues that are bounded by their
// own arguments (full) refuse what is too much, and publishers wait for room: a policy changes nothing about that.
var limits = []struct {
	key      string
	ofLength bool
}{
	{"expires", false}, {"max-length", true}, {"max-length-bytes", true}, {"message-ttl", false},
}

// policed is what the management API tells of a queue's policies.
type policed struct {
	Name      string         `json:"name"`
	Policy    string         `json:"policy"`
	Operator  string         `json:"operator_policy"`
	Arguments map[string]any `json:"arguments"`
	Effective any            `json:"effective_policy_definition"` // an object; an empty list, where nothing applies
}

// Policies returns the policies that somebody set on queues of ours and that let the broker drop their messages. The
// broker may tell of one some seconds late.
func (b *Bus) Policies(ctx context.Context) ([]bus.QueuePolicy, error) {
	var out []bus.QueuePolicy
	for _, v := range b.vhosts {
		queues, err := b.api.policed(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("rabbit: ask for the policies of vhost %s: %w", v.name, err)
		}
		for i := range queues {
			if said := queues[i].limits(); said != "" {
				out = append(out, bus.QueuePolicy{Vhost: v.name, Name: queues[i].policies(), Limits: said})
			}
		}
	}
	slices.SortFunc(out, func(a, b bus.QueuePolicy) int {
		return cmp.Or(cmp.Compare(a.Vhost, b.Vhost), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Limits, b.Limits))
	})
	return slices.Compact(out), nil
}

// policed lists the queues of a vhost with their policies.
func (m *management) policed(ctx context.Context, v *vhost) (queues []policed, err error) {
	resp, err := m.get(ctx, v, "/api/queues/"+url.PathEscape(v.name)+
		"?columns=name,policy,operator_policy,arguments,effective_policy_definition")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the management API answers %s", resp.Status)
	}
	read := json.NewDecoder(resp.Body)
	read.UseNumber() // 60000000, not 6e+07
	return queues, read.Decode(&queues)
}

// limits says what lets the broker drop the queue's messages; empty: nothing does.
func (q *policed) limits() string {
	effective, _ := q.Effective.(map[string]any)
	_, full := q.Arguments["x-max-length"]
	var said []string
	for _, l := range limits {
		if value, ok := effective[l.key]; ok && (!l.ofLength || !full) {
			said = append(said, fmt.Sprintf("%s %v", l.key, value))
		}
	}
	return strings.Join(said, ", ")
}

// policies names what applies to the queue.
func (q *policed) policies() string {
	var names []string
	if q.Policy != "" {
		names = append(names, "policy "+q.Policy)
	}
	if q.Operator != "" {
		names = append(names, "operator policy "+q.Operator)
	}
	return strings.Join(names, " and ")
}
