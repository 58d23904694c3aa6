package crawl

// Network says how the requests of a job reach the web.
type Network struct {
	Insecure         bool          `json:"insecure,omitempty" yaml:"insecure,omitempty"`                   // fetch from servers whose certificate is not valid; each record, and each line of crawl.log, of such an answer says so
	Certificates     []Certificate `json:"certificates,omitempty" yaml:"certificates,omitempty"`           // certificates by which servers know the crawler
	Proxies          []string      `json:"proxies,omitempty" yaml:"proxies,omitempty"`                     // URLs of http, https or socks5 proxies, which take turns; a password as ${NAME}; file:PATH is a file with one a line
	ProxyDelay       Duration      `json:"proxy_delay,omitempty" yaml:"proxy_delay,omitempty"`             // between the starts of two requests through one proxy
	ProxyConnections int           `json:"proxy_connections,omitempty" yaml:"proxy_connections,omitempty"` // requests at once through one proxy
	Resolve          []string      `json:"resolve,omitempty" yaml:"resolve,omitempty"`                     // addresses to connect to in the place of a name server's, as host:port:address[,address]; host * is any
	IP               string        `json:"ip,omitempty" yaml:"ip,omitempty"`                               // version of the addresses to connect to: 4 or 6; empty: both
}

// Certificate is what a server knows the crawler by.
type Certificate struct {
	Host string `json:"host" yaml:"host"` // host or registrable domain that gets it, and nobody else; empty: the hosts of the seeds
	Cert string `json:"cert" yaml:"cert"` // file with the certificate, PEM
	Key  string `json:"key" yaml:"key"`   // file with its private key, PEM; empty: the file of the certificate has it too
}

// Bounds bound a crawl as a whole.
type Bounds struct {
	MaxTime   Duration `json:"max_time,omitempty" yaml:"max_time,omitempty"`   // end the crawl after so much time, all its runs together; what is under way is finished
	MaxBytes  Size     `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"` // end the crawl after bodies of so many bytes, as they came; what is under way is finished
	Rate      float64  `json:"rate,omitempty" yaml:"rate,omitempty"`           // requests a second over all hosts
	Bandwidth Size     `json:"bandwidth,omitempty" yaml:"bandwidth,omitempty"` // bytes of bodies a second over all hosts, as they come
}
