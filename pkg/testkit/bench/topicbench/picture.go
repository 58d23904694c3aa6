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
	barHeight = 13
	groupGap  = 16
	leftEdge  = 110
	barsWidth = 380
	topEdge   = 44
)

// Picture draws the harvest at the first of the Marks as an SVG that is legible on light and dark pages.
func Picture(topics []Drawn, orders []Order) []byte {
	most := 0.0
	for _, t := range topics {
		for _, r := range t.Rows {
			most = max(most, r.At[0])
		}
	}
	var b bytes.Buffer
	height := topEdge + len(topics)*(len(orders)*barHeight+groupGap)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 %d" width="560" height="%d" role="img"
 font-family="system-ui, sans-serif" font-size="11">
<style>
text { fill: #1f2328 } .bar0 { fill: #8c959f } .bar1 { fill: #0969da } .bar2 { fill: #54aeff }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar0 { fill: #6e7681 } .bar1 { fill: #2f81f7 } .bar2 { fill: #79c0ff } }
</style>
<text x="4" y="14" font-weight="bold">Pages about the topic among the first %d</text>
`, height, height, Marks[0])
	x := 4
	for i, o := range orders {
		fmt.Fprintf(&b, `<rect class="bar%d" x="%d" y="22" width="10" height="10"/><text x="%d" y="31">%s</text>`+"\n",
			i, x, x+14, html.EscapeString(string(o)))
		x += 30 + 7*len(o)
	}
	y := topEdge
	for _, t := range topics {
		fmt.Fprintf(&b, `<text x="4" y="%d">%s</text>`+"\n", y+len(orders)*barHeight/2+4, html.EscapeString(t.Name))
		for i, o := range orders {
			p := t.harvest(o)
			width := barsWidth * p / max(most, 0.01)
			fmt.Fprintf(&b, `<rect class="bar%d" x="%d" y="%d" width="%.1f" height="%d"/><text x="%.1f" y="%d">%.0f</text>`+"\n",
				i, leftEdge, y, max(width, 1), barHeight-2, leftEdge+width+5, y+barHeight-3, p*float64(Marks[0]))
			y += barHeight
		}
		y += groupGap
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
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
