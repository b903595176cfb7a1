package check

// The causes, for programs. Each stands in docs/check.md with what to do.
const (
	// Address.
	CauseDoubledVersion    = "doubled_version"       // /v1/v1 in the URL
	CauseListenAddress     = "listen_address"        // 0.0.0.0 or :: as a target
	CauseContainerLoopback = "loopback_in_container" // 127.0.0.1 of a container is the container

	// Network.
	CauseProxyEnvUnused = "proxy_env_unused" // the environment names a proxy, which is not used
	CauseProxyUsed      = "proxy_used"       // requests go through a proxy
	CauseProxyRefused   = "proxy_refused"    // the proxy does not let the request pass
	CauseProxyBetween   = "proxy_between"    // an answer carries a proxy's mark
	CauseUnknownHost    = "unknown_host"
	CauseNameServer     = "name_server" // the name could not be looked up
	CauseRefused        = "refused"
	CauseNoRoute        = "no_route"
	CauseConnectTimeout = "connect_timeout"
	CauseTooManyFiles   = "too_many_files"
	CauseNoConnection   = "no_connection" // any other failure to connect

	// TLS.
	CauseSelfSigned        = "self_signed"
	CauseUnknownAuthority  = "unknown_authority"
	CauseWrongName         = "wrong_name"
	CauseExpired           = "expired"
	CauseExpiresSoon       = "expires_soon"
	CauseUnchecked         = "unchecked" // --insecure
	CauseHTTPSOnHTTP       = "https_on_http_port"
	CauseHTTPOnHTTPS       = "http_on_https_port"
	CauseClientCertificate = "client_certificate"
	CauseHandshake         = "handshake"

	// The first answer.
	CauseSilent       = "silent"   // accepts and never answers
	CauseNotHTTP      = "not_http" // something else listens
	CauseClosed       = "closed"   // the connection ends without an answer
	CauseHTML         = "html"     // a web page
	CauseLogin        = "login"    // a redirect to, or a page of, a log-in
	CauseRedirect     = "redirect"
	CauseRedirectLoop = "redirect_loop" // a redirect to the same address
	CauseEndless      = "endless"       // an answer begins and does not end
	CauseUnauthorized = "unauthorized"
	CauseForbidden    = "forbidden"
	CauseNoKeyAsked   = "no_key_asked" // a key is sent and nobody looks at it
	CauseRateLimited  = "rate_limited"
	CauseLoading      = "loading" // 503: coming up or overloaded
	CauseBadGateway   = "bad_gateway"
	CauseServerError  = "server_error"
	CauseNoSuchPath   = "no_such_path"
	CauseOtherPath    = "other_path" // another path answers
	CauseNoModelList  = "no_model_list"

	// The protocol.
	CauseWrongModel       = "wrong_model"
	CauseNoModel          = "no_model"
	CauseNotOffered       = "not_offered"
	CauseNoChoices        = "no_choices"
	CauseBroken           = "broken" // broken JSON, broken stream
	CauseTruncated        = "truncated"
	CauseEmpty            = "empty"
	CauseServerReports    = "server_reports" // an error object with status 200
	CauseRejected         = "rejected"       // another 4xx
	CauseNotStreamed      = "not_streamed"
	CauseBuffered         = "buffered"  // the stream arrives in one piece
	CauseDuplicate        = "duplicate" // parts of the stream come twice
	CauseQuirk            = "quirk"     // works, in another form than asked first
	CauseNoUsage          = "no_usage"
	CauseUsageDiffers     = "usage_differs"
	CauseUsageImpossible  = "usage_impossible"  // counts that count nothing: negative, fractions, texts
	CauseUsageContradicts = "usage_contradicts" // its parts do not add up
	CauseOtherModel       = "other_model"       // answers name another than was asked, or several
	CauseInvalidUTF8      = "invalid_utf8"
	CauseLimitIgnored     = "limit_ignored"
	CauseEOSNotIgnored    = "eos_not_ignored"
	CauseUndecided        = "undecided"
	CauseTokensDiffer     = "tokens_differ"
	CauseNoTokenizer      = "no_tokenizer"
	CauseServerAnonymous  = "server_unknown"

	// This machine.
	CauseClockSkew   = "clock_skew"
	CauseClockStep   = "clock_step"
	CauseClockCoarse = "clock_coarse"
	CauseFewFiles    = "few_files"
)
