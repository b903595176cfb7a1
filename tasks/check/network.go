package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"ais_bench/models"
)

var doubledVersion = regexp.MustCompile(`/(v[0-9]+)/v[0-9]+(/|$)`)

// address says where requests go, and what can be seen to be wrong in it before
// anything is sent.
func (r *run) address(context.Context) {
	const name = "address"
	u := r.target()
	found := "requests go to " + r.report.URL
	if r.Config.URL != "" && !strings.Contains(r.Config.URL, "/v1") && strings.HasSuffix(r.ep.API, "/v1") {
		found += " (/v1 was added)"
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	switch {
	case doubledVersion.MatchString(r.report.URL):
		r.warn(name, CauseDoubledVersion, found+": the version stands there twice",
			"give the base alone, once: --url "+doubledVersion.ReplaceAllString(r.ep.API, "/$1$2"))
	case ip != nil && ip.IsUnspecified():
		r.warn(name, CauseListenAddress, found+": "+host+" is an address to listen on, not one to connect to", "give 127.0.0.1, or the server's own address")
	case r.loopback() && r.inContainer():
		r.add(Line{Check: name, Status: OK, Cause: CauseContainerLoopback, Found: found + "; this program runs in a container, whose " + host + " is the container itself"})
	default:
		r.ok(name, found)
	}
}

// target is the service's URL.
func (r *run) target() *url.URL {
	u, err := url.Parse(r.ep.Server)
	if err != nil { // Endpoint made it from a parsed one
		return &url.URL{}
	}
	return u
}

func (r *run) loopback() bool {
	host := r.target().Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// inContainer looks for what container engines leave.
func (r *run) inContainer() bool {
	if r.Exists("/.dockerenv") || r.Exists("/run/.containerenv") || r.Getenv("KUBERNETES_SERVICE_HOST") != "" || r.Getenv("container") != "" {
		return true
	}
	b, err := r.ReadFile("/proc/1/cgroup")
	if err != nil {
		return false
	}
	for _, mark := range []string{"docker", "kubepods", "containerd", "libpod", "lxc"} {
		if strings.Contains(string(b), mark) {
			return true
		}
	}
	return false
}

// envProxy is the proxy that the environment names for the service, "" for none.
func (r *run) envProxy() (proxy, variable string) {
	get := func(name string) string {
		if v := r.Getenv(name); v != "" {
			return v
		}
		return r.Getenv(strings.ToLower(name))
	}
	u := r.target()
	variable = strings.ToUpper(u.Scheme) + "_PROXY"
	cfg := httpproxy.Config{HTTPProxy: get("HTTP_PROXY"), HTTPSProxy: get("HTTPS_PROXY"), NoProxy: get("NO_PROXY")}
	if all := get("ALL_PROXY"); all != "" && get(variable) == "" {
		cfg.HTTPProxy, cfg.HTTPSProxy, variable = all, all, "ALL_PROXY"
	}
	p, err := cfg.ProxyFunc()(u)
	if err != nil || p == nil {
		return "", ""
	}
	return p.Scheme + "://" + p.Host, variable
}

// proxy says whether a proxy stands in the way that is known of.
func (r *run) proxy(context.Context) {
	const name = "proxy"
	env, variable := r.envProxy()
	switch p := r.probe.Proxy(); {
	case p != nil:
		r.warn(name, CauseProxyUsed, fmt.Sprintf("requests go through the proxy %s", p),
			"a proxy may hold streams back and adds its own delay to every figure: leave --proxy out where the service can be reached directly")
	case env != "":
		r.add(Line{Check: name, Status: OK, Cause: CauseProxyEnvUnused, Found: fmt.Sprintf("connections go straight; %s names %s, which curl and Python clients would use", variable, env),
			Remedy: "--proxy env goes through it"})
	default:
		r.ok(name, "none: connections go straight")
	}
}

// peer is what connections are made to: the proxy, where there is one.
func (r *run) peer() (host, port, what string) {
	u, what := r.target(), ""
	if p := r.probe.Proxy(); p != nil {
		u, what = p, "the proxy "
	}
	port = u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return u.Hostname(), port, what
}

func resolveHost(ctx context.Context, host string) ([]string, error) {
	return net.DefaultResolver.LookupHost(ctx, host)
}

func (r *run) dns(ctx context.Context) {
	const name = "dns"
	host, _, what := r.peer()
	if net.ParseIP(strings.SplitN(host, "%", 2)[0]) != nil {
		r.ok(name, what+host+" is an address, nothing to look up")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	addrs, err := r.ResolveHost(ctx, host)
	var de *net.DNSError
	switch {
	case err == nil && len(addrs) > 0:
		r.ok(name, what+host+" is "+strings.Join(addrs, ", "))
	case errors.As(err, &de) && (de.IsTimeout || de.IsTemporary) && !de.IsNotFound || errors.Is(err, context.DeadlineExceeded):
		r.fail(name, CauseNameServer, fmt.Sprintf("%s%s: the name server does not answer (%s)", what, host, shortDNS(err)),
			"look at /etc/resolv.conf and the network, or give the address itself", true)
	default:
		remedy := "check the name for typing errors; ask `getent hosts " + host + "` on this machine"
		switch {
		case host == "host.docker.internal":
			remedy = "start the container with --add-host host.docker.internal:host-gateway"
		case !strings.Contains(host, ".") && r.inContainer():
			remedy = "a short name is known only within one Compose project or Kubernetes namespace: use the full name, or run in that network"
		case r.probe.Proxy() == nil && r.hasEnvProxy():
			remedy += "; behind a proxy it may be the proxy alone that knows it: --proxy env"
		}
		r.fail(name, CauseUnknownHost, fmt.Sprintf("%s%s is not known (%s)", what, host, shortDNS(err)), remedy, true)
	}
}

func (r *run) hasEnvProxy() bool { p, _ := r.envProxy(); return p != "" }

func shortDNS(err error) string {
	var de *net.DNSError
	if errors.As(err, &de) {
		return de.Err
	}
	if err == nil {
		return "no address"
	}
	return err.Error()
}

func (r *run) tcp(ctx context.Context) {
	const name = "tcp"
	if r.skipped(name) {
		return
	}
	host, port, what := r.peer()
	addr := net.JoinHostPort(host, port)
	c, took, err := r.dial(ctx, addr)
	if err == nil {
		found := fmt.Sprintf("%s%s accepts after %s", what, addr, millis(took))
		if to := c.RemoteAddr().String(); to != addr {
			found += " (" + to + ")"
		}
		c.Close()
		r.ok(name, found)
		return
	}
	cause, found, remedy := CauseNoConnection, err.Error(), "check the address, the route and firewalls"
	var ne net.Error
	var oe *net.OpError
	if errors.As(err, &oe) && oe.Err != nil {
		found = oe.Err.Error()
	}
	switch text := strings.ToLower(err.Error()); {
	case errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(text, "refused"):
		cause, found, remedy = CauseRefused, "connection refused", "nothing listens there: is the server up, did it finish starting, is it this port? A server that listens on 127.0.0.1 refuses others: start it with --host 0.0.0.0"
		if r.loopback() && r.probe.Proxy() == nil {
			remedy = "nothing listens there: is the server up, did it finish starting (--ready-timeout waits), is it this port?"
			if r.inContainer() {
				cause = CauseContainerLoopback
				found = fmt.Sprintf("connection refused; this program runs in a container, whose %s is the container itself, not the machine it runs on", host)
				remedy = "for a server on the host give the host's address, host.docker.internal (with --add-host host.docker.internal:host-gateway), or start this container with --network host; for one in another container its service name"
			}
		}
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		cause, found, remedy = CauseTooManyFiles, "too many open files", "raise the limit of open files: ulimit -n"
	case errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) || strings.Contains(text, "no route") || strings.Contains(text, "unreachable"):
		cause, found, remedy = CauseNoRoute, "no route to it", "is the machine up, is this one in the right network or VPN?"
	case errors.As(err, &ne) && ne.Timeout() || errors.Is(err, context.DeadlineExceeded):
		cause, found = CauseConnectTimeout, fmt.Sprintf("no answer within %s", r.connectLimit())
		remedy = "a firewall or a security group drops packets, or the address is wrong: try from another machine, or raise --connect-timeout and --step-timeout"
	}
	if r.probe.Proxy() == nil && r.hasEnvProxy() {
		env, variable := r.envProxy()
		remedy += fmt.Sprintf("; %s names the proxy %s, which is not used: --proxy env goes through it", variable, env)
	}
	r.fail(name, cause, what+addr+": "+found, remedy, true)
}

func (r *run) connectLimit() time.Duration {
	d := r.StepTimeout
	if t := time.Duration(r.Config.Timeouts.Connect); t > 0 && t < d {
		d = t
	}
	return d
}

// dial makes one plain connection.
func (r *run) dial(ctx context.Context, addr string) (net.Conn, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, r.connectLimit())
	defer cancel()
	began := time.Now()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	return c, time.Since(began), err
}

func millis(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}

// speaksHTTP reports whether a plain HTTP request to the service's address gets
// an HTTP answer.
func (r *run) speaksHTTP(ctx context.Context) bool {
	cfg := r.Config
	u := r.target()
	u.Scheme = "http"
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "443")
	}
	cfg.URL = u.String()
	p, err := models.NewProbe(cfg)
	if err != nil {
		return false
	}
	defer p.Close()
	reply := p.Ask(ctx, models.Question{Path: "/", Anonymous: true, Limit: min(r.StepTimeout, 5*time.Second)})
	return reply.Code != 0
}
