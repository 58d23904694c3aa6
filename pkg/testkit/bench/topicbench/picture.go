package topicbench

import (
	"bytes"
	"fmt"
	"html"
)

// Drawn is a topic with the harvests that the picture shows.
type Drawn struct {
	Name string
	Rows []Row
}

// The sizes of the picture, in its units.
const (
	barHeight  = 13
	groupGap   = 16
	leftEdge   = 110
	barsWidth  = 380
	topEdge    = 44
	axisHeight = 34
)

// Picture draws the harvest of so many pages as an SVG that is legible on light and dark pages.
func Picture(topics []Drawn, orders []Order, pages int) []byte {
	most := 0.0
	for _, t := range topics {
		for _, r := range t.Rows {
			most = max(most, r.At[0])
		}
	}
	var b bytes.Buffer
	bottom := topEdge + len(topics)*(len(orders)*barHeight+groupGap) - groupGap/2
	height := bottom + axisHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 %d" width="560" height="%d" role="img"
 font-family="system-ui, sans-serif" font-size="11">
<style>
text { fill: #1f2328 } .axis { stroke: #8c959f; fill: none } .grid { stroke: #8c959f; stroke-opacity: .25 } .bar0 { fill: #8c959f } .bar1 { fill: #0969da } .bar2 { fill: #54aeff }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar0 { fill: #6e7681 } .bar1 { fill: #2f81f7 } .bar2 { fill: #79c0ff } }
</style>
<text x="4" y="14" font-weight="bold">Pages about the topic among the first %d</text>
`, height, height, pages)
	x := 4
	for i, o := range orders {
		fmt.Fprintf(&b, `<rect class="bar%d" x="%d" y="22" width="10" height="10"/><text x="%d" y="31">%s</text>`+"\n",
			i, x, x+14, html.EscapeString(string(o)))
		x += 30 + 7*len(o)
	}
	axis(&b, most*float64(pages), bottom, pages)
	y := topEdge
	for _, t := range topics {
		fmt.Fprintf(&b, `<text x="4" y="%d">%s</text>`+"\n", y+len(orders)*barHeight/2+4, html.EscapeString(t.Name))
		for i, o := range orders {
			p := t.harvest(o)
			width := barsWidth * p / max(most, 0.01)
			fmt.Fprintf(&b, `<rect class="bar%d" x="%d" y="%d" width="%.1f" height="%d"/><text x="%.1f" y="%d">%.0f</text>`+"\n",
				i, leftEdge, y, max(width, 1), barHeight-2, leftEdge+width+5, y+barHeight-3, p*float64(pages))
			y += barHeight
		}
		y += groupGap
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// axis draws the axis of the pages, with lines at round numbers of them.
func axis(b *bytes.Buffer, most float64, bottom, pages int) {
	step := 1
	for _, s := range []int{2, 5, 10, 20, 25, 50, 100, 200, 500} {
		if most/float64(step) > 7 {
			step = s
		}
	}
	for n := 0; float64(n) <= most; n += step {
		x := leftEdge + barsWidth*float64(n)/max(most, 1)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x,
			topEdge-4, bottom, x, bottom+14, n)
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d %dV%dH%d"/><text x="%d" y="%d" text-anchor="end">pages, of %d</text>`+"\n",
		leftEdge, topEdge-4, bottom, leftEdge+barsWidth, leftEdge+barsWidth, bottom+29, pages)
}

// harvest is that of an order, without exploration.
func (t *Drawn) harvest(o Order) float64 {
	for _, r := range t.Rows {
		if r.Order == o {
			return r.At[0]
		}
	}
	return 0
}
