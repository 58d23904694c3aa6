package parser

// fewWords is how many words make a page that has little to say; with fewer, its text was not found.
const fewWords = 5

// littles are how the text of a page with little of it is sought, in turn.
var littles = [...]struct{ drop, region flags }{
	{everything | suspect | comments | teaser | aside, inMain},
	{everything | suspect | comments | teaser | aside, 0},
	{everything, 0},
}

// mostOfLittle is the share of a page's text that what is not called a menu, a footer and the like has at least if it
// is the text. A restaurant's menu is called one.
const mostOfLittle = 0.25

// keepTitleInMain keeps what the main element says beside links if that is the page's title: the page shows pictures,
// and its menu is no text. It says whether it is.
func (j *judge) keepTitleInMain() (has bool) {
	if j.title < 0 || j.blocks[j.title].flags&inMain == 0 {
		return false
	}
	for i := range j.blocks {
		b := &j.blocks[i]
		j.keep[i] = b.flags&everything == 0 && b.flags&inMain != 0 && (i == j.title || b.density() <= linksDensity)
		has = has || j.keep[i]
	}
	return has
}

// keepLittle keeps the text of a page that has too little to tell prose from all else: what its elements and their
// names say is all there is to go by. It says whether there is any, and that share of all.
func (j *judge) keepLittle(share float64) bool {
	least := max(fewWords, share*float64(j.unlinked(everything)))
	for _, l := range littles {
		words := 0.0
		for i := range j.blocks {
			b := &j.blocks[i]
			j.keep[i] = b.flags&l.drop == 0 && b.flags&l.region == l.region
			if j.keep[i] {
				words += float64(b.words - b.linkWords)
			}
		}
		if words >= least {
			return true
		}
	}
	return false
}
