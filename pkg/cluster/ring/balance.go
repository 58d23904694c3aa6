package ring

import "slices"

// fit gives a node its share: its part of the weights, rounded down or to the nearest. It takes from, or gives to, the
// others; nothing moves between two of them.
func (d *draft) fit(i int) {
	total := d.weights()
	// halves are rounded down: less moves
	share := int((int64(len(d.owner))*int64(d.nodes[i].Weight)*2 + total - 1) / (2 * total))
	if k := share - d.counts[i]; k > 0 {
		d.attract(i, k)
	} else {
		d.shed(i, -k, false)
	}
}

// surplus says how far a node is above its share, in virtual nodes × the sum of weights, so that it is whole.
func (d *draft) surplus(j int, total int64) int64 {
	return int64(d.counts[j])*total - int64(len(d.owner))*int64(d.nodes[j].Weight)
}

// weights is the sum over the nodes that own.
func (d *draft) weights() (total int64) {
	for j, n := range d.nodes {
		if d.takes(j) {
			total += int64(n.Weight)
		}
	}
	return total
}

// attract moves k virtual nodes from the others to a node, each from the one with the largest surplus; among equals, by
// name. A node gives those that do not move before those that do, and its last before its first, so that ranges stay in
// one piece if possible.
func (d *draft) attract(to, k int) {
	stock := make([][]int, len(d.nodes)) // by node, the next to be given last
	for _, moving := range []bool{true, false} {
		for v, o := range d.owner {
			if o != none && int(o) != to && (d.step[v] != Settled) == moving {
				stock[o] = append(stock[o], v)
			}
		}
	}
	total := d.weights()
	for range k {
		best := -1
		for j := range d.nodes {
			if len(stock[j]) > 0 && (best < 0 || d.before(d.surplus(j, total), d.surplus(best, total), j, best)) {
				best = j
			}
		}
		if best < 0 {
			return
		}
		last := len(stock[best]) - 1
		d.give(stock[best][last], to, false)
		stock[best] = stock[best][:last]
	}
}

// shed moves k virtual nodes from a node to the others, each to the one that lacks most. A virtual node that is just
// being handed to it returns to the node it comes from, if that is as good as any other.
func (d *draft) shed(from, k int, dead bool) {
	var mine []int
	for _, moving := range []bool{false, true} {
		for v, o := range d.owner {
			if int(o) == from && (d.step[v] != Settled) == moving {
				mine = append(mine, v)
			}
		}
	}
	total := d.weights()
	for _, v := range slices.Backward(mine[max(len(mine)-k, 0):]) {
		best := -1
		for j := range d.nodes {
			if j != from && d.takes(j) && (best < 0 || d.before(d.surplus(best, total), d.surplus(j, total), j, best)) {
				best = j
			}
		}
		if best < 0 {
			return
		}
		if back := int(d.from[v]); d.step[v] == Handing && back != from && d.takes(back) &&
			d.surplus(back, total) == d.surplus(best, total) {
			best = back
		}
		d.give(v, best, dead)
	}
}

// before reports a > b, or that name j comes before name best among equals.
func (d *draft) before(a, b int64, j, best int) bool {
	return a > b || a == b && d.nodes[j].Name < d.nodes[best].Name
}
