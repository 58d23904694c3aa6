package crawl

import "math"

// A topical job orders its tasks by how much they promise: by the relevance of the page that links to them, or what
// the link itself promises. Five priorities are too few for that: with a handful of examples nearly all pages have a
// probability below a tenth, and those of one in a hundred and one in a thousand would wait in one queue.

const (
	// Levels is how many levels of promise there are, 0 to Levels-1: equal steps of the logarithm of the odds.
	Levels = 32
	// lowestOdds and highestOdds are where the levels begin and end: P .0025 and .982.
	lowestOdds, highestOdds = -6.0, 4.0
	// firstLevel is the number of the front queue of level 0. Queue names are stored: it never changes.
	firstLevel = 10
	// MaxFront is the highest number of a front queue: MinPriority to MaxPriority are those of tasks that promise
	// nothing in particular, and 10 to MaxFront those of the levels.
	MaxFront = firstLevel + Levels - 1
	// usualLevel is that of a task of DefaultPriority of which nothing is known, as one that was found before there was a
	// model: P .04 or so.
	usualLevel = 9
)

// levels are those of all relevances: tasks are put in order by them often.
var levels = func() (of [1002]uint8) {
	for r := range of {
		p := min(max(Relevance(r).P(), 1e-4), 1-1e-4)
		part := (math.Log(p/(1-p)) - lowestOdds) / (highestOdds - lowestOdds)
		of[r] = uint8(min(max(math.Floor(part*Levels), 0), Levels-1))
	}
	return of
}()

// Level is the level of promise of a probability that is known.
func (r Relevance) Level() int { return int(levels[min(max(int(r), 0), len(levels)-1)]) }

// RelevanceOfLevel is a probability of a level, the middle one.
func RelevanceOfLevel(level int) Relevance {
	odds := lowestOdds + (float64(level)+0.5)*(highestOdds-lowestOdds)/Levels
	return RelevanceOf(1 / (1 + math.Exp(-odds)))
}

// RelevanceOfWeight is what a link promises that a site rule gives a weight, 1 to 9.
func RelevanceOfWeight(weight int) Relevance { return RelevanceOf(float64(weight-1) / 8) }

// promised is how much a task promises; unknown for what is no page, or is visited again.
func (t *Task) promised() Relevance {
	if t.Kind != KindPage || t.Visit > 0 {
		return 0
	}
	return max(t.Promise, t.Relevance)
}

// Promising reports whether it is known how much the task promises.
func (t *Task) Promising() bool { return t.promised().Known() }

// FrontNumber is the number of the front queue in which a task waits: its priority, which is MinPriority to
// MaxPriority, or that of its level of promise.
func (t *Task) FrontNumber() int {
	if r := t.promised(); r.Known() {
		return firstLevel + r.Level()
	}
	return min(max(t.Priority, MinPriority), MaxPriority)
}

// Rank orders the tasks of a job, the higher the sooner: 0 and more. Tasks of which nothing is known have the ranks of
// their priorities: those of MinPriority with the least promising, those of DefaultPriority at P .04, and others
// before all that is known.
func (t *Task) Rank() int {
	if r := t.promised(); r.Known() {
		return r.Level()
	}
	if t.Priority == 0 {
		return usualLevel
	}
	return RankOfFront(min(max(t.Priority, MinPriority), MaxPriority))
}

// RankOfFront is the rank of the tasks in the front queue of a number.
func RankOfFront(number int) int {
	switch {
	case number >= firstLevel:
		return number - firstLevel
	case number <= MinPriority:
		return 0
	case number == DefaultPriority:
		return usualLevel
	}
	return Levels + number - DefaultPriority
}
