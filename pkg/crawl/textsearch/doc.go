// Package textsearch is the language in which pages are searched for, and what a word is: one for the index of a
// directory (SQLite) and that of a cluster (PostgreSQL), so that both find the same.
//
//	rivers lakes          both words, in title, text or URL
//	"fountain of whirls"  the words side by side
//	whirl*                words that begin so
//	-lakes                not on the page
//	rivers OR lakes       one of them
//	title:rivers          in the title; so text: and url:
//
// Words are runs of letters and digits. Case, the accents of Latin and Greek letters and the vowel signs of Hebrew and
// Arabic do not count; the characters of Chinese, Japanese, Thai, Lao, Burmese, Khmer and Tibetan are words of their
// own, so that a run of them is found as a phrase. Words are not stemmed: a page may be in any language.
package textsearch
