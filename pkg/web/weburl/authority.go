package weburl

import "strings"

// applyAuthority covers the authority, host, port and path start states. s begins after the slashes.
func (r *record) applyAuthority(s string) error {
	special := r.special()
	end := slashIndex(s, special)
	hostPort := s[:end]
	if at := strings.LastIndexByte(hostPort, '@'); at >= 0 {
		r.setUserinfo(hostPort[:at])
		if hostPort = hostPort[at+1:]; hostPort == "" {
			return ErrHost
		}
	}
	if err := r.setHostPort(hostPort, special); err != nil {
		return err
	}
	rest, slash := cutSlash(s[end:], special)
	if slash || special {
		r.appendPath(rest)
	}
	return nil
}

// setUserinfo encodes user and password; a password that is empty is dropped with its colon.
func (r *record) setUserinfo(s string) {
	user, password, _ := strings.Cut(s, ":")
	r.userinfo = encode(user, inUserinfo)
	if password != "" {
		r.userinfo += ":" + encode(password, inUserinfo)
	}
}

func (r *record) setHostPort(s string, special bool) error {
	host, port, hasPort := cutPort(s)
	if host == "" && (special || hasPort) {
		return ErrHost
	}
	r.hasHost = true
	if host != "" {
		h, err := parseHost(host, special)
		if err != nil {
			return err
		}
		r.host = h
	}
	p, err := parsePort(port)
	if err != nil {
		return err
	}
	if def, _ := defaultPort(r.scheme); p != def {
		r.port = p
	}
	return nil
}

// cutPort splits at the first colon outside brackets.
func cutPort(s string) (host, port string, ok bool) {
	inside := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':':
			if !inside {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// parsePort returns the port without leading zeros, or "" for none.
func parsePort(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return "", ErrPort
		}
		if n = n*10 + int(s[i]-'0'); n > 65535 {
			return "", ErrPort
		}
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		s = "0"
	}
	return s, nil
}
