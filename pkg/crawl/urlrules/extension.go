package urlrules

import (
	"path"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// extensions is a set of extensions, in lower case and without the dot; nil: there is no list.
type extensions map[string]bool

func newExtensions(list []string) extensions {
	if len(list) == 0 {
		return nil
	}
	set := extensions{}
	for _, e := range list {
		set[strings.ToLower(strings.TrimPrefix(e, "."))] = true
	}
	return set
}

// judgeExtension applies the lists of extensions. A URL without an extension names a directory or a page of a program:
// neither list speaks of it.
func (r *Rules) judgeExtension(u weburl.URL) (reason, rule string) {
	if r.ext == nil && r.skip == nil {
		return "", ""
	}
	ext := extensionOf(u)
	switch {
	case ext == "":
		return "", ""
	case r.skip[ext]:
		return crawl.ReasonExtension, r.name("skip_ext " + ext)
	case r.ext != nil && !r.ext[ext]:
		return crawl.ReasonExtension, r.name("ext " + strings.Join(r.job.Ext, ","))
	}
	return "", ""
}

// extensionOf is what is behind the last dot of the last segment of a path, in lower case; empty: there is none, or
// it cannot be one: a version number's, say.
func extensionOf(u weburl.URL) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(u.Path()), "."))
	if len(ext) > maxExtension || strings.Trim(ext, "0123456789") == "" {
		return ""
	}
	return ext
}

// maxExtension is longer than any extension in use.
const maxExtension = 32
