package metatest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"
)

// sound is the sound of a call: SRTP with keys in the description. It sends nothing before the business has.
type sound struct {
	conn        *net.UDPConn
	key         []byte
	description string
	payload     uint8
	in, out     *srtp.Context
	far         netip.AddrPort

	mu     sync.Mutex
	heard  []byte // of all packets, as they were coded
	count  int
	say    []byte // G.711 to send
	seq    uint16
	opened chan struct{} // closed by the first packet
	once   sync.Once
}

const (
	payloadMu   = 0
	payloadOpus = 111
	frame       = 160
	keyLength   = 16
	keyBytes    = 30
)

var (
	mediaForm  = regexp.MustCompile(`(?m)^m=audio ([0-9]+) (\S+) ([0-9 ]+)\r?$`)
	cryptoForm = regexp.MustCompile(`(?m)^a=crypto:([0-9]+) AES_CM_128_HMAC_SHA1_80 inline:([A-Za-z0-9+/=]+)`)
	hostForm   = regexp.MustCompile(`(?m)^c=IN IP4 (\S+)\r?$`)
)

func open() (*sound, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &sound{conn: conn, key: make([]byte, keyBytes), opened: make(chan struct{})}
	_, _ = rand.Read(s.key) // never fails
	s.out, err = contextOf(s.key)
	return s, err
}

func contextOf(key []byte) (*srtp.Context, error) {
	return srtp.CreateContext(key[:keyLength], key[keyLength:], srtp.ProtectionProfileAes128CmHmacSha1_80)
}

func (s *sound) close() { _ = s.conn.Close() }

func (s *sound) describe(opus bool, tag string) {
	formats := "111 0 126"
	names := "a=rtpmap:111 opus/48000/2\r\na=fmtp:111 maxaveragebitrate=20000;useinbandfec=1\r\na=rtpmap:0 PCMU/8000\r\n"
	if opus {
		formats, names = "111 126", strings.Replace(names, "a=rtpmap:0 PCMU/8000\r\n", "", 1)
	}
	s.description = fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/SAVP %s\r\n%s"+
		"a=rtpmap:126 telephone-event/8000\r\na=ptime:20\r\na=rtcp-mux\r\na=crypto:%s AES_CM_128_HMAC_SHA1_80 inline:%s\r\na=sendrecv\r\n",
		s.conn.LocalAddr().(*net.UDPAddr).Port, formats, names, tag, base64.StdEncoding.EncodeToString(s.key))
}

// offer returns the sound of a call to the business.
func offer(opus bool) (*sound, error) {
	s, err := open()
	if err == nil {
		s.describe(opus, "1")
	}
	return s, err
}

// answer returns the sound of a call from the business, or why its offer is refused.
func answer(sdp string, opus bool) (s *sound, why string) {
	s, err := open()
	if err != nil {
		return nil, err.Error()
	}
	s.describe(opus, "1")
	if why = s.take(sdp); why != "" {
		s.close()
		return nil, why
	}
	return s, ""
}

// take reads the description of the business and begins. It returns why the description is refused.
func (s *sound) take(sdp string) (why string) {
	m, key, host := mediaForm.FindStringSubmatch(sdp), cryptoForm.FindStringSubmatch(sdp), hostForm.FindStringSubmatch(sdp)
	switch {
	case m == nil || strings.Count(sdp, "m=") != 1:
		return "not one stream of audio"
	case m[2] != "RTP/SAVP" || key == nil:
		return "no SRTP with a key"
	case !strings.Contains(sdp, "a=ptime:20"), !strings.Contains(sdp, "a=rtcp-mux"):
		return "no ptime 20 or no rtcp-mux"
	case !strings.Contains(sdp, "telephone-event/8000"):
		return "no telephone-event/8000"
	case host == nil:
		return "no address"
	}
	opus := strings.Contains(sdp, " opus/48000/2")
	formats := strings.Fields(m[3])
	switch theirs := strings.Contains(s.description, "PCMU"); {
	case theirs && slices.Contains(formats, "0"):
		s.payload = payloadMu
	case opus:
		s.payload = payloadOpus
	default:
		return "no codec in common"
	}
	raw, err := base64.StdEncoding.DecodeString(key[2])
	if err != nil || len(raw) != keyBytes {
		return "a key of another length"
	}
	if s.in, err = contextOf(raw); err != nil {
		return err.Error()
	}
	if s.far, err = netip.ParseAddrPort(host[1] + ":" + m[1]); err != nil {
		return err.Error()
	}
	go s.receive()
	go s.send()
	return ""
}

func (s *sound) receive() {
	b := make([]byte, 1500)
	for {
		n, err := s.conn.Read(b)
		if err != nil {
			return
		}
		plain, err := s.in.DecryptRTP(nil, b[:n], nil)
		if err != nil {
			continue
		}
		var p rtp.Packet
		if p.Unmarshal(plain) != nil {
			continue
		}
		s.mu.Lock()
		s.count++
		if p.PayloadType == payloadMu {
			s.heard = append(s.heard, p.Payload...)
		}
		s.mu.Unlock()
		s.once.Do(func() { close(s.opened) })
	}
}

// send sends after the first packet of the business.
func (s *sound) send() {
	<-s.opened
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		s.mu.Lock()
		payload := slices.Repeat([]byte{0xff}, frame) // silence
		n := copy(payload, s.say)
		s.say = s.say[n:]
		s.seq++
		p := rtp.Packet{Header: rtp.Header{
			Version: 2, PayloadType: payloadMu, SequenceNumber: s.seq, Timestamp: uint32(s.seq) * frame, SSRC: 7,
		}, Payload: payload}
		s.mu.Unlock()
		if s.payload != payloadMu {
			continue // no encoder of Opus here
		}
		b, err := p.Marshal()
		if err == nil {
			b, err = s.out.EncryptRTP(nil, b, nil)
		}
		if err != nil {
			return
		}
		if _, err := s.conn.WriteToUDPAddrPort(b, s.far); err != nil {
			return
		}
	}
}

// Call is an answered call.
type Call struct {
	Number string
	WACID  string

	sound                     *sound
	conn                      net.Conn
	local, remote, id, target string
	seq                       int
	acked                     sync.Once
	done                      chan struct{}
	over                      sync.Once
	mu                        sync.Mutex
	cause                     string
}

func newCall(s *sound, conn net.Conn, number, wacid string) *Call {
	return &Call{Number: number, WACID: wacid, sound: s, conn: conn, done: make(chan struct{})}
}

// fill sets the dialog of a call from the business.
func (c *Call) fill(m, ok *message) {
	c.local, c.remote, c.id = "From: "+ok.get("To"), "To: "+m.get("From"), m.get("Call-ID")
	c.target = strings.Trim(strings.SplitN(m.get("Contact"), ">", 2)[0], "< ")
}

func (c *Call) end(cause string) {
	c.over.Do(func() {
		c.mu.Lock()
		c.cause = cause
		c.mu.Unlock()
		c.sound.once.Do(func() { close(c.sound.opened) })
		c.sound.close()
		close(c.done)
	})
}

// Done is closed when the call has ended.
func (c *Call) Done() <-chan struct{} { return c.done }

// Heard returns the coded sound that the business sent in G.711, and the number of its packets.
func (c *Call) Heard() (mu []byte, packets int) {
	c.sound.mu.Lock()
	defer c.sound.mu.Unlock()
	return slices.Clone(c.sound.heard), c.sound.count
}

// Say sends coded sound in G.711.
func (c *Call) Say(mu []byte) {
	c.sound.mu.Lock()
	defer c.sound.mu.Unlock()
	c.sound.say = append(c.sound.say, mu...)
}

// HangUp ends the call by a BYE.
func (c *Call) HangUp() {
	c.seq++
	m := &message{first: "BYE " + c.target + " SIP/2.0", headers: []string{
		fmt.Sprintf("Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK%s", rand.Text()), c.local, c.remote, "Call-ID: " + c.id,
		fmt.Sprintf("CSeq: %d BYE", c.seq), "Max-Forwards: 70", "x-wa-meta-call-duration: 1",
	}}
	_ = m.write(c.conn)
	c.end("BYE from here")
}
