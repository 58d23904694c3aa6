package revisit

// Signals is what was learned of a host's signals: how often they are right, and how many changes they tell of. The
// zero value knows nothing: half of both.
type Signals struct {
	// Right and Wrong count visits after a signal that found the page changed or not; Silent counts changes that were
	// found without a signal. They fade, and are no whole numbers.
	Right, Wrong, Silent float32
}

// signalMemory is what an observation keeps of those before: hosts change their software. 400 visits are remembered.
const signalMemory = 1 - 1./400

// bounds of what is believed: certainty would make a page without signals never due.
const mostTrusted = .98

// Observe takes in a visit: whether a signal had come since the visit before, and whether the page had changed.
func (g Signals) Observe(signalled, changed bool) Signals {
	g.Right, g.Wrong, g.Silent = g.Right*signalMemory, g.Wrong*signalMemory, g.Silent*signalMemory
	switch {
	case signalled && changed:
		g.Right++
	case signalled:
		g.Wrong++
	case changed:
		g.Silent++
	}
	return g
}

// Precision is the probability that a page changed of which a signal says so, from Beta(1, 1).
func (g Signals) Precision() float64 {
	return min(float64(g.Right+1)/float64(g.Right+g.Wrong+2), mostTrusted)
}

// Recall is the part of the changes that signals tell of. It begins at 0 and not at 1/2: a host that gives no signals
// must not slow its pages down.
func (g Signals) Recall() float64 {
	return min(float64(g.Right)/float64(g.Right+g.Silent+2), mostTrusted)
}
