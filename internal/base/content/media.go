package content

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// mediaExtensions are the file extensions that a header of each type accepts.
func mediaExtensions(p place) []string {
	switch p {
	case headerImage:
		return []string{".jpg", ".jpeg", ".png", ".gif"}
	case headerVideo:
		return []string{".mp4", ".avi", ".mov"}
	default:
		return []string{".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx"}
	}
}

// checkMediaURL returns what is wrong with the URL of a header's medium as far as its text shows, or "". The address that
// the name resolves to, the type and the size of the file are checked on delivery.
func checkMediaURL(p place, address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Opaque != "" || u.Scheme == "" || !validPort(u.Port()):
		return "Not a URL"
	case u.Scheme != "https":
		return "A media URL must be HTTPS"
	case u.User != nil:
		return "A media URL must be reachable without authentication"
	case !publicHost(u.Hostname()):
		return "A media URL must be publicly reachable"
	}
	ext := strings.ToLower(path.Ext(u.Path))
	allowed := mediaExtensions(p)
	if ext != "" && ext != "." && !slices.Contains(allowed, ext) {
		return "The file's extension must be one of " + strings.Join(allowed, ", ")
	}
	return ""
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// publicHost reports whether a host may be on the public internet. It is false for an empty host, localhost and every
// literal address that is private, loopback, link-local or otherwise not public, in any notation of IPv4 that resolvers accept.
func publicHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return !endsInNumber(host)
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// endsInNumber reports whether resolvers may read the host as an IPv4 address in another notation, such as `127.1` or
// `0x7f000001` (URL Standard, "ends in a number").
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
