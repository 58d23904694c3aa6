package main

import "fmt"

// plural is a number of things in words: 1 page, 2 pages.
func plural[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
