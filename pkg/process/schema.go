package process

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/nearest"
)

// envPrefix begins the name of every variable of ours.
const envPrefix = "WHIRLPOOL_"

// setting is one value of a configuration, found by its key.
type setting struct {
	key    string // fetch.allow_private
	secret bool   // it may be read from a file that a variable names
	value  reflect.Value
}

// settings returns the settings of c in the order of the file; setting one changes c.
func settings(c *Config) []setting { return walk("", reflect.ValueOf(c).Elem()) }

func walk(path string, v reflect.Value) []setting {
	var out []setting
	for i := range v.NumField() {
		key, field := v.Type().Field(i).Tag.Get("yaml"), v.Field(i)
		if path != "" {
			key = path + "." + key
		}
		if s, ok := field.Interface().(section); ok {
			s.each(func(name string, value reflect.Value) {
				out = append(out, setting{key: key + "." + name, value: value})
			})
			continue
		}
		if field.Kind() == reflect.Struct {
			out = append(out, walk(key, field)...)
			continue
		}
		_, secret := field.Interface().(interface{ Reveal() string })
		out = append(out, setting{key: key, secret: secret, value: field})
	}
	return out
}

// envOf returns the variable of a key.
func envOf(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// set reads text into the setting.
func (s setting) set(text string) error {
	if u, ok := s.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch s.value.Kind() {
	case reflect.String:
		s.value.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q: want true or false", text)
		}
		s.value.SetBool(text == "true")
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q: want a whole number", text)
		}
		s.value.SetInt(int64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q: want a number", text)
		}
		s.value.SetFloat(f)
	case reflect.Slice:
		s.setList(strings.Split(text, ","))
	default:
		return fmt.Errorf("a setting of type %v cannot be read", s.value.Type())
	}
	return nil
}

// isList reports whether the setting is a list of words.
func (s setting) isList() bool { return s.value.Kind() == reflect.Slice }

// setList sets a list to the items that are not empty.
func (s setting) setList(items []string) {
	list := reflect.MakeSlice(s.value.Type(), 0, len(items))
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			list = reflect.Append(list, reflect.ValueOf(item).Convert(s.value.Type().Elem()))
		}
	}
	s.value.Set(list)
}

// suggest returns a hint with the candidate most similar to name: by its letters, or else by the same last name in
// another section. It returns "" if nothing is similar.
func suggest(name string, candidates []string) string {
	best := nearest.To(name, candidates, max(2, len(name)/4))
	last := "." + name[strings.LastIndexByte(name, '.')+1:]
	if i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasSuffix(c, last) }); best == "" && i >= 0 {
		best = candidates[i]
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// find returns the setting of a key.
func find(all []setting, key string) (setting, bool) {
	i := slices.IndexFunc(all, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return all[i], true
}
