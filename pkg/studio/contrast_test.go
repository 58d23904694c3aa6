package studio

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// pairs are colours that lie on one another, and the contrast that WCAG 2.2 asks of them: 4.5 of text, 3 of marks.
var pairs = []struct {
	fore, back string
	least      float64
}{
	{"text", "bg", 4.5}, {"text", "raised", 4.5}, {"text", "sunk", 4.5}, {"text", "accent-soft", 4.5},
	{"text", "good-soft", 4.5}, {"text", "wait-soft", 4.5}, {"text", "bad-soft", 4.5},
	{"muted", "bg", 4.5}, {"muted", "raised", 4.5}, {"muted", "sunk", 4.5},
	{"accent", "bg", 4.5}, {"accent", "raised", 4.5}, {"accent", "sunk", 4.5}, {"accent", "accent-soft", 4.5},
	{"on-accent", "accent", 4.5},
	{"good", "bg", 4.5}, {"wait", "bg", 4.5}, {"bad", "bg", 4.5},
	{"good", "raised", 4.5}, {"wait", "raised", 4.5}, {"bad", "raised", 4.5},
	{"mark", "bg", 3}, {"mark", "raised", 3},
	{"c2", "bg", 3}, {"c3", "bg", 3}, {"c4", "bg", 3}, {"c5", "bg", 3}, {"c0", "bg", 3},
}

// luminance is that of sRGB (WCAG 2.2) of a colour in OKLCH: lightness, chroma, hue in degrees.
func luminance(l, c, h float64) float64 {
	a, b := c*math.Cos(h*math.Pi/180), c*math.Sin(h*math.Pi/180)
	cube := func(x float64) float64 { return x * x * x }
	p, m, s := cube(l+0.3963377774*a+0.2158037573*b), cube(l-0.1055613458*a-0.0638541728*b),
		cube(l-0.0894841775*a-1.291485548*b)
	part := func(x float64) float64 { return min(max(x, 0), 1) } // what a screen cannot show is cut
	red := part(4.0767416621*p - 3.3077115913*m + 0.2309699292*s)
	green := part(-1.2684380046*p + 2.6097574011*m - 0.3413193965*s)
	blue := part(-0.0041960863*p - 0.7034186147*m + 1.707614701*s)
	return 0.2126*red + 0.7152*green + 0.0722*blue
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// palettes reads the table of tokens.css: by theme and name, the luminance.
func palettes(t *testing.T) [2]map[string]float64 {
	t.Helper()
	css, err := os.ReadFile("../../studio/src/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	const colour = `oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)`
	line := regexp.MustCompile(`--([a-z0-9-]+): light-dark\(` + colour + `, ` + colour + `\);`)
	all := [2]map[string]float64{{}, {}}
	for _, m := range line.FindAllStringSubmatch(string(css), -1) {
		var n [6]float64
		for i := range n {
			if n[i], err = strconv.ParseFloat(m[2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		all[0][m[1]], all[1][m[1]] = luminance(n[0], n[1], n[2]), luminance(n[3], n[4], n[5])
	}
	return all
}

func TestContrastOfTheTokens(t *testing.T) {
	if c := contrast(luminance(1, 0, 0), luminance(0, 0, 0)); math.Abs(c-21) > 0.01 {
		t.Fatalf("white on black: %.2f, want 21", c)
	}
	for i, theme := range []string{"light", "dark"} {
		lum := palettes(t)[i]
		for _, p := range pairs {
			fore, ok1 := lum[p.fore]
			back, ok2 := lum[p.back]
			if !ok1 || !ok2 {
				t.Fatalf("tokens.css has no colour %s or %s", p.fore, p.back)
			}
			if c := contrast(fore, back); c < p.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", theme, p.fore, p.back, c, p.least)
			}
		}
	}
}
