package parser

// fewWords is how many words make a page that has little to say; with fewer, its text was not found.
const fewWords = 5

// littles are how the text of a page with little of it is sought, in turn.
var littles = [...]struct{ drop, region flags }{
	{everything | suspect | comments | teaser | aside, inMain},
	{everything | suspect | comments | teaser | aside, 0},
	{everything, 0},
}

// keepLittle keeps the text of a page that has too little to tell prose from all else: what its elements and their
// names say is all there is to go by. At last it is all visible text.
func (j *judge) keepLittle() {
	for _, l := range littles {
		words := int32(0)
		for i := range j.blocks {
			b := &j.blocks[i]
			j.keep[i] = b.flags&l.drop == 0 && b.flags&l.region == l.region
			if j.keep[i] {
				words += b.words - b.linkWords
			}
		}
		if words >= fewWords {
			return
		}
	}
	for i := range j.blocks {
		j.keep[i] = j.blocks[i].flags&hidden == 0
	}
}
