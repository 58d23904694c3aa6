package crawl

// Network says how the requests of a job reach the web.
type Network struct {
	// fetch from servers whose certificate is not valid; each record, and each line of crawl.log, of such an answer says
	// so
	Insecure bool `json:"insecure,omitempty" yaml:"insecure,omitempty"`
	// certificates by which servers know the crawler
	Certificates []Certificate `json:"certificates,omitempty" yaml:"certificates,omitempty"`
	// URLs of http, https or socks5 proxies, which take turns; a password as ${NAME}; file:PATH is a file with one a line
	Proxies []string `json:"proxies,omitempty" yaml:"proxies,omitempty"`
	// between the starts of two requests through one proxy
	ProxyDelay Duration `json:"proxy_delay,omitempty" yaml:"proxy_delay,omitempty"`
	// requests at once through one proxy
	ProxyConnections int `json:"proxy_connections,omitempty" yaml:"proxy_connections,omitempty"`
	// addresses to connect to in the place of a name server's, as host:port:address[,address]; host * is any
	Resolve []string `json:"resolve,omitempty" yaml:"resolve,omitempty"`
	// version of the addresses to connect to: 4 or 6; empty: both
	IP string `json:"ip,omitempty" yaml:"ip,omitempty"`
}

// Certificate is what a server knows the crawler by.
type Certificate struct {
	// host or registrable domain that gets it, and nobody else; empty: the hosts of the seeds
	Host string `json:"host" yaml:"host"`
	// file with the certificate, PEM
	Cert string `json:"cert" yaml:"cert"`
	// file with its private key, PEM; empty: the file of the certificate has it too
	Key string `json:"key" yaml:"key"`
}

// Bounds bound a crawl as a whole.
type Bounds struct {
	// end the crawl after so much time, all its runs together; what is under way is finished
	MaxTime Duration `json:"max_time,omitempty" yaml:"max_time,omitempty"`
	// end the crawl after bodies of so many bytes, as they came; what is under way is finished
	MaxBytes Size `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"`
	// requests a second over all hosts
	Rate float64 `json:"rate,omitempty" yaml:"rate,omitempty"`
	// bytes of bodies a second over all hosts, as they come
	Bandwidth Size `json:"bandwidth,omitempty" yaml:"bandwidth,omitempty"`
}
