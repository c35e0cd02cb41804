package sip

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/base/audio"
)

// description is one side's description of the call's sound (RFC 8866, of which telephones use little).
type description struct {
	session, version uint64
	address          netip.Addr
	port             uint16
	secure           bool   // RTP/SAVP
	payloads         []int  // in order of preference
	opus             int    // payload type of Opus; 0 for none
	digits           uint8  // payload type of telephone-event; 0 for none
	fast             bool   // whose clock is that of Opus
	direction        string // sendrecv, sendonly, recvonly or inactive
	mux              bool   // RTCP on the same port
	keys             []crypto
	streams          []media // the offered ones; empty in an offer of ours
	place            int     // of the sound among them
}

// media is a media line of an offer.
type media struct {
	kind, port, protocol, formats string
	lines                         []string // that follow it
}

// crypto is an offered key (RFC 4568).
type crypto struct {
	tag string
	key []byte
}

const (
	suite     = "AES_CM_128_HMAC_SHA1_80"
	keyBytes  = 30
	digitsOwn = 101
	opusOwn   = 96
	maxLines  = 300
	maxMedia  = 16

	payloadMu, payloadA = 0, 8
)

// Directions of sound.
const (
	sendReceive = "sendrecv"
	sendOnly    = "sendonly"
	receiveOnly = "recvonly"
	inactive    = "inactive"
)

var (
	errNoAudio  = errors.New("the far side offers no sound")
	errNoCodec  = errors.New("the far side has neither G.711 nor Opus")
	errNoKey    = errors.New("the far side encrypts in no way that is known here")
	errBadSound = errors.New("the description of the sound cannot be read")
)

// propose returns our offer.
func propose(address netip.Addr, port uint16, secure bool) *description {
	id := uint64(time.Now().Unix())
	d := &description{
		session: id, version: id, address: address, port: port, secure: secure, payloads: []int{payloadMu, payloadA, opusOwn},
		opus: opusOwn, digits: digitsOwn, direction: sendReceive,
	}
	if secure {
		d.keys = []crypto{{"1", newKey()}}
	}
	return d
}

func newKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// String returns the description in SDP.
func (d *description) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	family := "IP4"
	if d.address.Is6() {
		family = "IP6"
	}
	profile := "RTP/AVP"
	if d.secure {
		profile = "RTP/SAVP"
	}
	line("v=0")
	line("o=- %d %d IN %s %s", d.session, d.version, family, d.address)
	line("s=-")
	line("c=IN %s %s", family, d.address)
	line("t=0 0")
	for i := range d.place {
		line("%s", d.streams[i].refused())
	}
	var formats strings.Builder
	for _, p := range d.payloads {
		formats.WriteString(" " + strconv.Itoa(p))
	}
	if d.digits > 0 {
		formats.WriteString(" " + strconv.Itoa(int(d.digits)))
	}
	line("m=audio %d %s%s", d.port, profile, formats.String())
	for _, p := range d.payloads {
		switch p {
		case payloadMu:
			line("a=rtpmap:%d PCMU/8000", p)
		case payloadA:
			line("a=rtpmap:%d PCMA/8000", p)
		default:
			line("a=rtpmap:%d opus/48000/2", p) // always two channels (RFC 7587, section 7)
			line("a=fmtp:%d useinbandfec=1", p)
		}
	}
	if d.digits > 0 {
		clock := 8000
		if d.fast {
			clock = 48000
		}
		line("a=rtpmap:%d telephone-event/%d", d.digits, clock)
		line("a=fmtp:%d 0-15", d.digits)
	}
	line("a=ptime:20")
	if d.mux {
		line("a=rtcp-mux")
	}
	for _, k := range d.keys {
		line("a=crypto:%s %s inline:%s", k.tag, suite, base64.StdEncoding.EncodeToString(k.key))
	}
	line("a=%s", d.direction)
	for i := d.place + 1; i < len(d.streams); i++ {
		line("%s", d.streams[i].refused())
	}
	return b.String()
}

// refused returns the media line of an answer that refuses a stream (RFC 3264, section 6).
func (s *media) refused() string { return "m=" + s.kind + " 0 " + s.protocol + " " + s.formats }

// parse parses a description. Of its streams it chooses the first with sound that is understood here.
func parse(text string) (*description, error) {
	d := &description{direction: sendReceive}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) > maxLines {
		return nil, errBadSound
	}
	var common []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		value, begins := strings.CutPrefix(line, "m=")
		switch n := len(d.streams); {
		case begins:
			x, err := parseMediaLine(value)
			if err != nil || n == maxMedia {
				return nil, errBadSound
			}
			d.streams = append(d.streams, x)
		case n > 0:
			d.streams[n-1].lines = append(d.streams[n-1].lines, line)
		default:
			common = append(common, line)
		}
	}
	fault := errNoAudio
	for i := range d.streams {
		one := *d
		one.place = i
		switch err := one.take(common, &d.streams[i]); {
		case err == nil:
			return &one, nil
		case fault == errNoAudio: //nolint:errorlint // our own, not wrapped
			fault = err
		}
	}
	return nil, fault
}

// parseMediaLine parses a media line.
func parseMediaLine(value string) (s media, err error) {
	f := strings.Fields(value)
	if len(f) < 4 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s, errBadSound
	}
	return media{kind: f[0], port: f[1], protocol: f[2], formats: strings.Join(f[3:], " ")}, nil
}

// take reads a stream of sound, with the lines for all streams.
func (d *description) take(common []string, s *media) error {
	if s.kind != "audio" {
		return errNoAudio
	}
	names := map[int]string{}
	for _, line := range slices.Concat(common, s.lines) {
		kind, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		switch kind {
		case "o":
			d.parseOrigin(value)
		case "c":
			a, err := parseConnection(value)
			if err != nil {
				return err
			}
			d.address = a // the stream's own follows the common one
		case "a":
			d.parseAttribute(value, names)
		}
	}
	if err := d.parseMedia(s); err != nil {
		return err
	}
	if d.port == 0 {
		return errNoAudio
	}
	return d.choose(names)
}

func (d *description) parseOrigin(value string) {
	f := strings.Fields(value)
	if len(f) < 3 {
		return
	}
	d.session, _ = strconv.ParseUint(f[1], 10, 64)
	d.version, _ = strconv.ParseUint(f[2], 10, 64)
}

func parseConnection(value string) (netip.Addr, error) {
	f := strings.Fields(value)
	if len(f) < 3 {
		return netip.Addr{}, errBadSound
	}
	host, _, _ := strings.Cut(f[2], "/")
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, errBadSound
	}
	return a.Unmap(), nil
}

func (d *description) parseMedia(s *media) error {
	port, _, _ := strings.Cut(s.port, "/")
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return errBadSound
	}
	d.port = uint16(n)
	switch s.protocol {
	case "RTP/AVP", "RTP/AVPF":
	case "RTP/SAVP", "RTP/SAVPF":
		d.secure = true
	default:
		return errNoAudio
	}
	for p := range strings.FieldsSeq(s.formats) {
		if n, err := strconv.Atoi(p); err == nil && n >= 0 && n < 128 {
			d.payloads = append(d.payloads, n)
		}
	}
	return nil
}

func (d *description) parseAttribute(value string, names map[int]string) {
	name, rest, _ := strings.Cut(value, ":")
	switch name {
	case sendReceive, sendOnly, receiveOnly, inactive:
		d.direction = name
	case "rtcp-mux":
		d.mux = true
	case "rtpmap":
		payload, encoding, ok := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(payload); ok && err == nil {
			names[n] = strings.ToLower(strings.TrimSpace(encoding))
		}
	case "crypto":
		f := strings.Fields(rest)
		if len(f) < 3 || f[1] != suite {
			return
		}
		if _, err := strconv.ParseUint(f[0], 10, 32); err != nil { // the tag is repeated in our answer
			return
		}
		text, ok := strings.CutPrefix(f[2], "inline:")
		text, _, _ = strings.Cut(text, "|")
		if key, err := base64.StdEncoding.DecodeString(text); ok && err == nil && len(key) == keyBytes {
			d.keys = append(d.keys, crypto{f[0], key})
		}
	}
}

// choose keeps the supported payload types: G.711 before Opus, which costs more and sounds no better at the rate of calls.
func (d *description) choose(names map[int]string) error {
	var known []int
	var slow, fast uint8 // payload types of digits
	for _, p := range d.payloads {
		switch name := names[p]; {
		case p == payloadMu, p == payloadA:
			known = append(known, p)
		case strings.HasPrefix(name, "opus/48000") && d.opus == 0 && p > 0:
			d.opus = p
		case strings.HasPrefix(name, "telephone-event/8000") && slow == 0:
			slow = uint8(p)
		case strings.HasPrefix(name, "telephone-event/48000") && fast == 0:
			fast = uint8(p)
		}
	}
	if d.opus > 0 {
		known = append(known, d.opus)
	}
	d.payloads = known
	switch {
	case len(known) == 0:
		return errNoCodec
	case d.secure && len(d.keys) == 0:
		return errNoKey
	case !d.address.IsValid():
		return errBadSound
	}
	if d.digits = slow; d.sendsOpus() && fast > 0 || slow == 0 {
		d.digits, d.fast = fast, fast > 0
	}
	return nil
}

// sendsOpus reports whether Opus is the preferred coding.
func (d *description) sendsOpus() bool { return d.opus > 0 && d.payloads[0] == d.opus }

// law returns the preferred companding law.
func (d *description) law() audio.Law {
	if d.payloads[0] == payloadA {
		return audio.A
	}
	return audio.Mu
}

// remote returns the destination of the sound.
func (d *description) remote() netip.AddrPort { return netip.AddrPortFrom(d.address, d.port) }

// held reports whether the side with this description wants no sound.
func (d *description) held() bool {
	return d.direction == sendOnly || d.direction == inactive || d.address.IsUnspecified()
}

// answer returns our answer to an offer: its first supported coding, its digits, and our own key.
func (d *description) answer(own *description) *description {
	a := *own
	a.version++
	a.streams, a.place = d.streams, d.place
	a.secure, a.keys, a.digits, a.fast, a.mux = d.secure, nil, d.digits, d.fast, d.mux
	a.payloads, a.opus = slices.Clone(d.payloads[:1]), 0
	if d.sendsOpus() {
		a.opus = d.opus
	}
	if d.secure {
		key := newKey()
		if len(own.keys) > 0 {
			key = own.keys[0].key
		}
		a.keys = []crypto{{d.keys[0].tag, key}}
	}
	switch d.direction {
	case sendOnly:
		a.direction = receiveOnly
	case receiveOnly:
		a.direction = sendOnly
	case inactive:
		a.direction = inactive
	default:
		a.direction = sendReceive
	}
	return &a
}
