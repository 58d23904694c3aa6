package crawl

import (
	"reflect"
	"slices"
	"time"
)

// Stage is a row of the pipeline's table: what a stage is called, what it consumes and what it publishes.
//
// Its name is the one name of the stage: of its folder under pkg/stages, of its program under services, of its
// service in docker-compose.yml, of its role on a node and of its settings (workers.NAME, handlers.NAME). It also
// is in message ids and metrics.
type Stage struct {
	Name string
	// Takes are the topics that it consumes. No other stage consumes them.
	Takes []Topic
	// Gives are the names of the topics that it publishes to.
	Gives []string
	// Workers is how many messages of a topic it handles at once, by default.
	Workers Workers
	// Limit is how long it may handle one message, by default.
	Limit time.Duration
}

// Topic is a queue of events of one type.
type Topic struct {
	// Name is the name of the queue. It is stored in brokers and journals, so it never changes.
	Name string
	// Event makes an empty event of the topic's type.
	Event func() Event
	// Bounded says that publishers wait while the topic is full.
	Bounded bool
	// Root says that the bus of one process stores the topic's messages in its journal. Other messages grow from
	// them again.
	Root bool
	// Single says that every message travels alone; those of other topics travel in bundles.
	Single bool
	// Independent says that a message means the same whatever becomes of those published with it. An outcome, say,
	// does not: it stands for all that was to be published before it.
	Independent bool
	// Room is how many messages may wait before a publisher of this process has to; 0: what the bus holds by default.
	Room int
	// OfFrontier says that the topic lies with the frontier's own queues, in their vhost.
	OfFrontier bool
}

// Workers bounds the messages that a stage handles at once.
type Workers struct {
	Min, Max int
	// Setting names the setting of Max where that is not workers.NAME.
	Setting string
}

// Stages that compute have as many workers as a machine has cores, those that wait for stores have more.
var (
	computes = Workers{Min: 1, Max: 8}
	stores   = Workers{Min: 2, Max: 64}
)

// A limit is minutes more than the largest page and a store that was away for a while take. A fetch has the limits
// of its job, so the stage's is only for one that is stuck.
const (
	handlerLimit = 10 * time.Minute
	fetcherLimit = 25 * time.Minute
)

// table is the pipeline, in the order of a URL's story. Codec, brokers, roles, settings, reports, deployment and
// documents follow it: they read it, or a test compares them with it. pkg/node/stages.go says how each stage is
// made.
//
// The topics between a fetch and a claim are bounded. What goes to the frontier is not: its handlers only store, so
// these queues are short, and the cycle fetch → … → frontier → fetch cannot lock itself.
//
// Leases travel alone: while one fetch is slow, the broker would take the others of its bundle for unfinished, and
// deliver all of them again when the fetcher dies.
var table = []Stage{
	{
		Name:    "fetcher",
		Takes:   []Topic{{Name: TopicFetch, Event: newOf[Fetch], Bounded: true, Root: true, Single: true}},
		Gives:   []string{TopicParse, TopicURLFilter, TopicOutcome},
		Workers: Workers{Min: 1, Max: 256, Setting: "fetch.concurrency"}, Limit: fetcherLimit,
	},
	{
		Name:    "parser",
		Takes:   []Topic{{Name: TopicParse, Event: newOf[Page], Bounded: true}},
		Gives:   []string{TopicContentSeen, TopicOutcome},
		Workers: computes, Limit: handlerLimit,
	},
	{
		Name:    "contentseen",
		Takes:   []Topic{{Name: TopicContentSeen, Event: newOf[Document], Bounded: true}},
		Gives:   []string{TopicURLFilter, TopicRender, TopicOutcome},
		Workers: stores, Limit: handlerLimit,
	},
	{
		// Publishers ask for room first (RenderQueue), so that a crawl never waits for a browser.
		Name: "renderer",
		Takes: []Topic{{Name: TopicRender, Event: newOf[Render], Root: true, Single: true, Independent: true,
			Room: 10_000}},
		Gives:   []string{TopicParse, TopicURLFilter, TopicRender},
		Workers: Workers{Min: 1, Max: 8}, Limit: handlerLimit,
	},
	{
		Name:    "urlfilter",
		Takes:   []Topic{{Name: TopicURLFilter, Event: newOf[Links], Bounded: true}},
		Gives:   []string{TopicHostSplitter},
		Workers: computes, Limit: handlerLimit,
	},
	{
		Name:    "hostsplitter",
		Takes:   []Topic{{Name: TopicHostSplitter, Event: newOf[Filtered], Bounded: true}},
		Gives:   []string{TopicDUE},
		Workers: computes, Limit: handlerLimit,
	},
	{
		Name:    "due",
		Takes:   []Topic{{Name: TopicDUE, Event: newOf[Claim], Bounded: true, Root: true, Independent: true}},
		Gives:   []string{TopicFrontierIn, TopicOutcome},
		Workers: stores, Limit: handlerLimit,
	},
	{
		Name: "frontier",
		Takes: []Topic{
			{Name: TopicFrontierIn, Event: newOf[Fresh], Independent: true, OfFrontier: true},
			{Name: TopicOutcome, Event: newOf[Outcome], OfFrontier: true},
		},
		Gives:   []string{TopicFetch, TopicContentSeen},
		Workers: stores, Limit: handlerLimit,
	},
}

// newOf makes an empty event.
func newOf[E any, P interface {
	*E
	Event
}]() Event {
	return P(new(E))
}

// Stages returns the stages of the pipeline, in the order of a URL's story. Callers must not change them.
func Stages() []Stage { return table }

// StageNames returns the names of the stages, in the order of a URL's story.
func StageNames() (out []string) {
	for i := range table {
		out = append(out, table[i].Name)
	}
	return out
}

// StageNamed returns the stage of a name.
func StageNamed(name string) (Stage, bool) {
	i := slices.IndexFunc(table, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		return Stage{}, false
	}
	return table[i], true
}

// Topics returns the topics of the pipeline, in the order of a URL's story.
func Topics() (out []Topic) {
	for i := range table {
		out = append(out, table[i].Takes...)
	}
	return out
}

// TopicNames returns the names of the topics for which keep is true, or of all where it is nil.
func TopicNames(keep func(Topic) bool) (out []string) {
	for _, t := range Topics() {
		if keep == nil || keep(t) {
			out = append(out, t.Name)
		}
	}
	return out
}

// TopicNamed returns the topic of a name.
func TopicNamed(name string) (Topic, bool) {
	t, ok := topicsByName[name]
	return t, ok
}

var topicsByName = func() map[string]Topic {
	out := map[string]Topic{}
	for _, t := range Topics() {
		out[t.Name] = t
	}
	return out
}()

// Routes returns where the stage publishes events that go elsewhere than to their own topics (Event.Topic), by
// their types. So a stage can be put between two others by the table alone: the first one's events go to it, and it
// passes on events of the same type.
func (s Stage) Routes() map[reflect.Type]string {
	out := map[reflect.Type]string{}
	for _, name := range s.Gives {
		t, ok := TopicNamed(name)
		if !ok {
			continue
		}
		if e := t.Event(); e.Topic() != name {
			out[reflect.TypeOf(e)] = name
		}
	}
	return out
}
