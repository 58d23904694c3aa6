package experiment

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
	"unicode/utf8"
)

// The sizes of a picture, in its units.
const (
	barHeight   = 14
	groupGap    = 8
	barsWidth   = 360
	letterWidth = 6.3 // of the font, about
	panelHead   = 36
	axisHeight  = 26
	titleHeight = 26
	rightEdge   = 70 // for the figure behind the longest bar
)

// style is legible on light and on dark pages.
const style = `<style>
text { fill: #1f2328 } .axis { stroke: #656d76; fill: none } .tick { fill: #656d76 } .bar { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .axis { stroke: #8b949e } .tick { fill: #8b949e } .bar { fill: #58a6ff }
}
</style>
`

// Picture draws the columns that are to be drawn as an SVG: a panel each, with a bar a row and an axis with its unit.
func (t *Table) Picture() []byte {
	labels := 0
	for _, r := range t.Rows {
		labels = max(labels, utf8.RuneCountInString(r.Label))
	}
	left := 12 + int(letterWidth*float64(labels))
	width := max(left+barsWidth+rightEdge, 16+int(1.4*letterWidth*float64(utf8.RuneCountInString(t.Title))))
	panel := panelHead + len(t.Rows)*barHeight + axisHeight + groupGap
	height := titleHeight
	for i := range t.Columns {
		if t.Columns[i].Drawn {
			height += panel
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"
 font-family="system-ui, sans-serif" font-size="11">
`, width, height, width, height)
	b.WriteString(style)
	fmt.Fprintf(&b, `<text x="4" y="16" font-size="13" font-weight="bold">%s</text>`+"\n", html.EscapeString(t.Title))
	y := titleHeight
	for i := range t.Columns {
		if t.Columns[i].Drawn {
			t.panel(&b, i, left, y)
			y += panel
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// panel draws a column below y, its bars beginning at left.
func (t *Table) panel(b *bytes.Buffer, column, left, y int) {
	c, most := &t.Columns[column], 0.0
	for _, r := range t.Rows {
		most = max(most, r.Values[column])
	}
	step := tick(most)
	end := step * math.Ceil(most/step)
	fmt.Fprintf(b, `<text x="4" y="%d" font-weight="bold">%s</text>`+"\n", y+panelHead-14, html.EscapeString(c.heading()))
	top := y + panelHead - 4
	for i, r := range t.Rows {
		at, length := top+i*barHeight, max(0, barsWidth*r.Values[column]/end)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-6, at+11, html.EscapeString(r.Label))
		fmt.Fprintf(b, `<rect class="bar" x="%d" y="%d" width="%.1f" height="%d"/>`+"\n", left, at+1, length, barHeight-3)
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`+"\n", float64(left)+length+4, at+11, c.cell(r.Values[column]))
	}
	bottom := top + len(t.Rows)*barHeight + 2
	fmt.Fprintf(b, `<path class="axis" d="M%d %dV%dH%d"/>`+"\n", left, top-2, bottom, left+barsWidth)
	for v := 0.0; v <= end*1.001; v += step {
		x := float64(left) + barsWidth*v/end
		fmt.Fprintf(b, `<path class="axis" d="M%.1f %dv3"/>`, x, bottom)
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, bottom+14,
			tickLabel(v))
	}
}

// tick is the distance of an axis's marks: 1, 2 or 5 times a power of ten, so that there are three to six of them.
func tick(most float64) float64 {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, m := range []float64{.2, .5, 1, 2, 5} {
		if most/(m*power) <= 5 {
			return m * power
		}
	}
	return 10 * power
}

// tickLabel is the label of a place on an axis: as many digits as tell its steps apart, and no exponent.
func tickLabel(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil || math.Abs(v) >= 1e4 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}
