package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// foreignFlags are options of wget, httrack, curl, Scrapy, Katana and Browsertrix, in lower case and without their
// first dashes (one dash stays before those of one letter), and what does the same here: a flag, which is named to
// commands that have it, or else a text.
var foreignFlags = map[string]string{
	"accept": "--ext", "accept-regex": "--include", "-A": "--ext",
	"agent": "--user-agent", "-U": "--user-agent", "useragent": "--user-agent",
	"adjust-extension": "--mirror", "convert-links": "--mirror", "-m": "--mirror", "generatewacz": "--wacz",
	"collection": "--out", "directory-prefix": "--out", "output": "--out", "output-document": "--out", "-O": "--out",
	"-P": "--out", "path": "--out", "dir": "--out",
	"crawl-delay": "--delay", "wait": "--delay", "waitretry": "--delay", "download-delay": "--delay", "-w": "--delay",
	"crawl-duration": "--max-time", "timelimit": "--max-time", "time-limit": "--max-time",
	"depth": "--max-depth", "level": "--max-depth", "-l": "--max-depth", "-d": "--max-depth", "depth-limit": "--max-depth",
	"domains": "--scope", "crawl-scope": "--include", "crawl-out-scope": "--exclude", "scopetype": "--scope",
	"span-hosts": "--scope any", "field-scope": "--scope", "-D": "--scope", "same-domain": "--scope",
	"no-parent": "--scope prefix", "-np": "--scope prefix", "subdomains": "--scope domain",
	"extension-match": "--ext", "extension-filter": "--skip-ext", "reject": "--skip-ext", "-R": "--skip-ext",
	"reject-regex": "--exclude",
	"headless":     "--render", "js": "--render", "javascript": "--render", "js-crawl": "--render",
	"headers": "--header", "-H": "--header", "http-password": "--password", "http-user": "--user", "-u": "--user",
	"ignore-robots-txt": "--ignore-robots", "no-robots": "--ignore-robots", "obey-robots": "--ignore-robots",
	"robots": "--ignore-robots", "-e": "--ignore-robots",
	"input-file": "--seeds", "list": "--seeds", "-i": "--seeds", "urlfile": "--seeds", "seedfile": "--seeds",
	"limit-rate": "--bandwidth", "max-rate": "--bandwidth",
	"load-cookies": "--cookies", "cookie-jar": "--cookies", "-b": "--cookie",
	"no-check-certificate": "--insecure",
	"page-requisites":      "--assets", "-p": "--assets",
	"pagelimit": "--max-pages", "page-limit": "--max-pages", "limit": "--max-pages", "max-urls": "--max-pages",
	"sizelimit": "--max-bytes", "quota": "--max-bytes", "-Q": "--max-bytes", "max-response-size": "--max-body",
	"rate-limit": "--rate", "rate-limit-minute": "--rate",
	"spider":  "--urls found",
	"threads": "--concurrency", "workers": "--concurrency", "parallel": "--concurrency", "sockets": "--concurrency",
	"jobs":     "--concurrency",
	"warcfile": "--warc", "warc-file": "--warc", "generatewarc": "--warc",
	"-x": "--proxy", "http-proxy": "--proxy", "-E": "--mirror",

	"seed": "URLs stand without a flag; ", "url": "URLs stand without a flag; ",
	"start-url": "URLs stand without a flag; ",
	"recursive": "links are followed as it is; ", "-r": "links are followed as it is; ",
	"continue": "the same command resumes a crawl; ", "resume": "the same command resumes a crawl; ",
	"format":  "`whirlpool export` writes CSV, JSON Lines and Parquet; ",
	"timeout": "the keys limits.total, limits.connect and so on of a job file say it; ",
	"-T":      "the key limits.total of a job file says it; ",
	"tries":   "the key retry.max of a job file says it; ", "retries": "the key retry.max of a job file says it; ",
	"retry": "the key retry.max of a job file says it; ", "-t": "the key retry.max of a job file says it; ",
	"-n": "--limit", "tail": "--limit", "lines": "--limit", "head": "--limit",
	"port": "--listen", "bind": "--listen", "addr": "--listen", "address": "--listen",
	"dry-run": "`whirlpool try URL` tells what is done with one URL; ",
}

// flagElsewhere says what does here what a flag of another crawler does there. It is empty where nothing is known, or
// the command has no such flag.
func flagElsewhere(cmd *cobra.Command, name string) string {
	meant, ok := foreignFlags[name]
	flag, isFlag := strings.CutPrefix(meant, "--")
	flag, _, _ = strings.Cut(flag, " ")
	switch {
	case !ok, isFlag && cmd.Flags().Lookup(flag) == nil:
		return ""
	case isFlag:
		return "did you mean " + meant + "? "
	case cmd.Flags().Lookup("max-depth") == nil: // it makes no crawl
		return ""
	}
	return meant
}
