// Package worddiff compares two texts word by word, within a bound of work.
package worddiff

// Piece is a piece of two texts. Op is = for what both have, - for what the first alone has, + for the second.
type Piece struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}
