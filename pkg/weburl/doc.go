// Package weburl holds the URLs of the crawler.
package weburl
