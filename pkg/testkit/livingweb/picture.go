package livingweb

import (
	"bytes"
	"fmt"
	"strings"
)

// The sizes of the picture, in its units.
const (
	picWidth, picHeight           = 640, 300
	picLeft, picRight, picTop     = 44, 118, 40
	picBottom                     = 36
	leastShown, mostShown, tenths = .5, 1., .1
)

// Picture draws the freshness of each day as an SVG that is legible on light and dark pages.
func Picture(days []Figures, title string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"
 font-family="system-ui, sans-serif" font-size="11">
<style>
text { fill: #1f2328 } .grid { stroke: #d0d7de } .line { fill: none; stroke-width: 1.8 } .s0 { stroke: #0969da } .s1 { stroke: #8250df; stroke-dasharray: 5 3 }
.s2 { stroke: #9a6700; stroke-dasharray: 2 2 } .s3 { stroke: #57606a; stroke-dasharray: 9 4 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #30363d } .s0 { stroke: #58a6ff } .s1 { stroke: #bc8cff }
.s2 { stroke: #d29922 } .s3 { stroke: #8b949e } }
</style>
<text x="4" y="16" font-weight="bold">%s</text>
`, picWidth, picHeight, picWidth, picHeight, title)
	x := func(day float64) float64 {
		return picLeft + day/float64(len(days))*(picWidth-picLeft-picRight)
	}
	y := func(v float64) float64 {
		return picTop + (mostShown-min(max(v, leastShown), mostShown))/(mostShown-leastShown)*(picHeight-picTop-picBottom)
	}
	for v := leastShown; v <= mostShown+1e-9; v += tenths {
		fmt.Fprintf(&b,
			`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n",
			picLeft, picWidth-picRight, y(v), y(v), picLeft-6, y(v)+4, v)
	}
	for day := 0; day <= len(days); day += 10 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(float64(day)), picHeight-picBottom+16,
			day)
	}
	fmt.Fprintf(&b,
		`<text x="%d" y="%d">part of the pages that are fresh</text><text x="%.1f" y="%d" text-anchor="middle">days</text>`+
			"\n", 4, picTop-8, x(float64(len(days))/2), picHeight-4)
	drawLines(&b, days, x, y)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawLines draws a line for each schedule, with its name at its end; names do not lie on one another.
func drawLines(b *bytes.Buffer, days []Figures, x, y func(float64) float64) {
	below := 0.
	for i, line := range []struct {
		name string
		of   func(*Figures) float64
	}{{"bound", func(f *Figures) float64 { return f.Bound }}, {"Whirlpool", func(f *Figures) float64 { return f.Fresh }},
		{"uniform visits", func(f *Figures) float64 { return f.Uniform }},
		{"Nutch's interval", func(f *Figures) float64 { return f.Nutch }}} {
		class := []int{3, 0, 1, 2}[i]
		var points strings.Builder
		for d := range days {
			fmt.Fprintf(&points, "%.1f,%.1f ", x(float64(d)+.5), y(line.of(&days[d])))
		}
		fmt.Fprintf(b, `<polyline class="line s%d" points="%s"/>`+"\n", class, strings.TrimSpace(points.String()))
		below = max(y(line.of(&days[len(days)-1])), below+14)
		right := picWidth - picRight
		fmt.Fprintf(b, `<line class="line s%d" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f">%s</text>`+"\n",
			class, right+2, right+18, below, below, right+22, below+4, line.name)
	}
}
