package content

import (
	"fmt"
	"iter"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
)

// ComponentsKey is the request key of the values for a template's variables.
const ComponentsKey = "components_push"

// The delimiters of a variable in a template's text, and of a placeholder in a component's value.
const (
	opening = "{{"
	closing = "}}"
)

// place is the part of a template that a component fills, `{position}_{type}`. The constants below are all places.
type place string

const (
	headerText     place = "header_text"
	headerImage    place = "header_image"
	headerVideo    place = "header_video"
	headerDocument place = "header_document"
	bodyText       place = "body_text"
	buttonURL      place = "button_url"
	buttonPayload  place = "button_payload"

	headerLatitude  place = "header_location_latitude"
	headerLongitude place = "header_location_longitude"
	headerPlaceName place = "header_location_name"
	headerAddress   place = "header_location_address"
	headerProduct   place = "header_product"
	headerCatalog   place = "header_catalog"
	offerExpiration place = "offer_expiration"
	buttonCoupon    place = "button_coupon"
	buttonProduct   place = "button_product"
	buttonProducts  place = "button_products"
	buttonFlow      place = "button_flow"
	buttonFlowData  place = "button_flow_data"
	buttonCallTTL   place = "button_call_ttl"
)

// media reports whether the place takes a media URL.
func (p place) media() bool { return p == headerImage || p == headerVideo || p == headerDocument }

// single reports whether a template or card has at most one such place, so that its key needs no number.
func (p place) single() bool {
	switch p {
	case headerText, headerLatitude, headerLongitude, headerPlaceName, headerAddress, headerProduct, headerCatalog, offerExpiration:
		return true
	}
	return p.media()
}

// numbered reports whether a key of the place ends in a number. Positions and types that no template combines are
// known too: their keys are unexpected, not malformed.
func (p place) numbered() bool {
	switch p {
	case buttonCoupon, buttonProduct, buttonProducts, buttonFlow, buttonFlowData, buttonCallTTL:
		return true
	}
	position, kind, _ := strings.Cut(string(p), "_")
	return p.single() || slices.Contains([]string{"header", "body", "footer", "button"}, position) &&
		slices.Contains([]string{"text", "image", "video", "document", "url", "payload"}, kind)
}

// Component is one entry of components_push: a static text, or the name of the variable whose value is looked up for
// each recipient.
type Component struct {
	key   string // as spelled in the request
	place place
	card  int    // the carousel's card; -1 for the template itself
	n     int    // the number in the key; -1 if it is larger than any template allows
	text  string // the value
	name  string // the variable's name, if the value is a placeholder
}

// Text is the value of an entry of components_push. field is its name in an error.
type Text interface {
	String(field string) (text string, present bool, err error)
}

// ReadComponents reads the entries of components_push. It refuses a header key that is given both with and without its
// number; the JSON reader already refuses duplicate keys. So no two components have the same place.
func ReadComponents[V Text](entries iter.Seq2[string, V]) ([]Component, error) {
	var all []Component
	for key, v := range entries {
		c, err := parseComponent(key, v)
		if err != nil {
			return nil, err
		}
		samePlace := func(o Component) bool { return o.place == c.place && o.card == c.card && o.n == c.n }
		if c.n == 0 && c.place.single() && slices.ContainsFunc(all, samePlace) {
			return nil, carillon.Invalid(c.field(), "The key is given in both of its forms, bare and with _0")
		}
		all = append(all, c)
	}
	return all, nil
}

// keysReason is the reason of the 400 for an unknown key.
const keysReason = "Not a component key: they are header_text, header_image, header_video, header_document, body_text_N, button_url_N " +
	"and button_payload_N, N from 0; header_location_latitude, header_location_longitude, header_location_name, " +
	"header_location_address, header_product, header_catalog, offer_expiration, button_coupon_N, button_product_N, " +
	"button_products_N, button_flow_N, button_flow_data_N and button_call_ttl_N; and card_C_ before a key of card C, from 0"

func parseComponent(key string, v Text) (Component, error) {
	c := Component{key: key}
	var ok bool
	if c.place, c.card, c.n, ok = parseKey(key); !ok {
		return Component{}, carillon.Invalid(c.field(), keysReason)
	}
	var err error
	if c.text, _, err = v.String(c.field()); err != nil {
		return Component{}, err
	}
	var reason string
	if c.name, reason = parsePlaceholder(c.text); reason != "" {
		return Component{}, carillon.InvalidValue(c.field(), reason, c.text)
	}
	if c.name == "" {
		return c, c.check(c.text)
	}
	return c, nil
}

// field returns the component's name in an error.
func (c *Component) field() string { return ComponentsKey + "." + c.key }

// shownKey returns the key as variable_mismatch lists it, with `header_text_0` for `header_text`.
func (c *Component) shownKey() string {
	if c.key == "header_text" {
		return "header_text_0"
	}
	return carillon.Shorten(c.key)
}

// placeKey returns the key that requiredKeys uses for the same place.
func (c *Component) placeKey() string { return slot{c.card, c.place, c.n}.key() }

// check applies the limits of the component's place to a value: the length of a header, the form of a media URL. A
// blank value passes here and is later reported as missing.
func (c *Component) check(value string) error {
	if blank(value) {
		return nil
	}
	switch {
	case c.place == headerText:
		if n := utf8.RuneCountInString(value); n > maxHeader {
			return carillon.Invalid(c.field(), fmt.Sprintf("A header has at most %d characters, this one %d", maxHeader, n))
		}
	case c.place.media():
		if reason := checkMediaURL(c.place, value); reason != "" {
			return carillon.InvalidValue(c.field(), reason, value)
		}
	default:
		if reason := checkValue(c.place, value); reason != "" {
			return carillon.InvalidValue(c.field(), reason, value)
		}
	}
	return nil
}

// parsePlaceholder reads a component's value, which is either exactly one `{{ name }}` or static text. For static text
// name is empty. For a malformed placeholder it returns the reason of the 400.
func parsePlaceholder(value string) (name, reason string) {
	i := strings.Index(value, opening)
	if i < 0 {
		return "", ""
	}
	inner, rest, closed := strings.Cut(value[i+len(opening):], closing)
	switch {
	case !closed:
		return "", "The placeholder is not closed"
	case blank(inner):
		return "", "The placeholder is empty"
	case i > 0 || rest != "" || strings.ContainsAny(inner, "{}"):
		return "", "A value holds exactly one placeholder or only static text"
	}
	return strings.TrimSpace(inner), ""
}

// parseKey reads a key of the form `{position}_{type}_{N}`, or of a card, `card_{C}_{position}_{type}_{N}`. Keys of
// single places may omit the number. The card of the template itself is -1.
func parseKey(key string) (p place, card, n int, ok bool) {
	card = -1
	if rest, found := strings.CutPrefix(key, "card_"); found {
		number, inner, _ := strings.Cut(rest, "_")
		if card, ok = parseIndex(number); !ok {
			return "", 0, 0, false
		}
		if card < 0 {
			card = noCard
		}
		key = inner
	}
	if p := place(key); p.single() {
		return p, card, 0, true
	}
	end := strings.LastIndexByte(key, '_')
	if end < 0 {
		return "", 0, 0, false
	}
	p = place(key[:end])
	n, ok = parseIndex(key[end+1:])
	return p, card, n, ok && p.numbered()
}

// noCard is the number of a card that no template has.
const noCard = 1 << 30

// parseIndex reads a decimal without leading zeros. It returns -1 for a number larger than any template allows.
func parseIndex(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	if n, err := strconv.Atoi(s); err == nil && len(s) < 10 {
		return n, true
	}
	return -1, true
}

// blank reports whether a text is empty or only white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Keys returns the keys of components_push that a template needs, or none if s is nil.
func Keys(s *carillon.Shape) []string {
	if s == nil {
		return []string{}
	}
	return requiredKeys(s, leastCards(s))
}

// extensions are the file extensions of each kind of media.
var extensions = map[string][]string{ //nolint:gochecknoglobals // read-only
	"image":    {".jpg", ".jpeg", ".png", ".gif"},
	"video":    {".mp4", ".avi", ".mov"},
	"document": {".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx"},
	"audio":    {".aac", ".amr", ".m4a", ".mp3", ".mp4", ".ogg", ".opus"},
	"sticker":  {".webp"},
}

// checkMediaURL checks the URL of a header and returns the fault, or "". The resolved address, the type and the size of
// the file are checked on delivery.
func checkMediaURL(p place, address string) string {
	return CheckMediaURL(strings.TrimPrefix(string(p), "header_"), address)
}

// CheckMediaURL checks the text of a URL of a kind of media (image, video, document, audio or sticker) and returns the
// fault, or "".
func CheckMediaURL(kind, address string) string {
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
	allowed := extensions[kind]
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
// literal address that is private, loopback, link-local or otherwise not public, in any notation of IPv4 that resolvers
// accept.
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
