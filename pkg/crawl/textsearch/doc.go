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
// Words are runs of letters, their marks, and digits. Case, the accents of Latin and Greek letters and the vowel points
// of Arabic and Hebrew do not count, and letters that are written in several ways are one (ß and ss, ё and е). The
// characters of scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and of Korean,
// which adds endings to words, are words of their own, so that a run of them is found as a phrase. Words are not
// stemmed: a page may be in any language.
package textsearch
