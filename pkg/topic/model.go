package topic

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
)

// The bounds of a model.
const (
	// MaxClasses is how many classes a model has at most.
	MaxClasses = 32
	// MaxName is how many bytes the name of a class has at most.
	MaxName = 64
	// MaxModel bounds the compact form of a model in bytes.
	MaxModel = 1 << 20
	// weights is how many weights a model keeps, over all its classes: the largest. Smaller ones decide nothing.
	weights = 1 << 16
)

// Model is a logistic regression for each of its classes; for a topic there is one. It is not changed once it is made.
type Model struct{ classes []class }

// class is one regression. A weight is its number times scale; most are 0.
type class struct {
	name    string
	bias    float32
	scale   float32
	weights []int16 // Features of them
}

// Names are the names of the classes, in the order of their scores.
func (m *Model) Names() []string {
	names := make([]string, len(m.classes))
	for i := range m.classes {
		names[i] = m.classes[i].name
	}
	return names
}

// Score is the probability that the page is of class i, between 0 and 1.
func (m *Model) Score(i int, v Vector) float64 { return m.classes[i].score(v) }

func (c *class) score(v Vector) float64 {
	title, text := 0, 0
	for _, id := range v.IDs[:v.Title] {
		title += int(c.weights[id])
	}
	for _, id := range v.IDs[v.Title:] {
		text += int(c.weights[id])
	}
	return logistic(float64(c.bias) + float64(c.scale)*float64(TitleWeight*title+text)*v.norm())
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Digest names the model: the SHA-256 of its compact form, in hexadecimal.
func (m *Model) Digest() string {
	sum := sha256.Sum256(m.Append(nil))
	return hex.EncodeToString(sum[:])
}
