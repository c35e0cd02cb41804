package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"

	"carillon/internal/base/audio"
)

const (
	frame      = 20 * time.Millisecond
	slots      = 20 // of a frame: each millisecond a twentieth of the calls gets its packet
	rtpHead    = 12
	frameBytes = 160
	pressEvery = 12 * time.Second
	pressFor   = 8 // packets
	drainEvery = 5 * time.Millisecond
	audible    = 300  // amplitude of speech
	declined   = "39" // calls to numbers with this prefix are declined
	underrun   = 60 * time.Millisecond
)

// exchange is a telephone exchange that answers every call. To use little processor time, the calls share twenty
// sockets whose packets are sent and read in batches. The kernel timestamps the packets that arrive.
type exchange struct {
	sip   *net.UDPConn
	media [slots]*ipv4.PacketConn
	own   [slots]int // their ports

	mu      sync.Mutex
	speech  []byte // compressed speech that callees repeat; nil means they press 1 now and then
	spoken  int    // bytes of it before its pause
	calls   map[string]*answered
	ports   map[int]*answered // calls by the program's port
	replies []time.Duration   // from the end of a callee's speech to the agent's
	order   [slots][]*answered
	flows   map[uint32]*flow // by the source of the stream
	arrived []string         // declined numbers, with the times of their calls
}

// answered is a call that the exchange has answered.
type answered struct {
	to   *net.UDPAddr
	slot int
	out  [rtpHead + frameBytes]byte
	seq  uint16
	at   int // frames sent
	// The last instants of sound to the callee, and of the end of the callee's speech; that is zero after the reply.
	heard, asked time.Time
}

// flow measures the sound received in a call. The sequence number of a packet says when it is due; least and most are
// the extremes of the delay after that.
type flow struct {
	seq         uint16
	k           int64
	least, most time.Duration
	packets     int64
	sounding    int64
	underruns   int64 // packets that came too late for a telephone that waits for underrun
}

// runExchange is the helper process. It prints its address and handles the commands on standard input: speak <file>,
// measure, report, replies, arrived.
func runExchange() error {
	x := &exchange{calls: map[string]*answered{}, ports: map[int]*answered{}, flows: map[uint32]*flow{}}
	var err error
	if x.sip, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return err
	}
	_ = x.sip.SetReadBuffer(4 << 20)
	for i := range x.media {
		if err := x.openMedia(i); err != nil {
			return err
		}
	}
	fmt.Println(x.sip.LocalAddr())
	go x.takeRequests()
	go x.sendSound()
	go x.receiveSound()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		name, rest, _ := strings.Cut(in.Text(), " ")
		fmt.Println(x.obey(name, rest))
	}
	return in.Err()
}

func (x *exchange) openMedia(i int) error {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	_ = c.SetReadBuffer(4 << 20)
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	}); err != nil {
		return err
	}
	x.media[i], x.own[i] = ipv4.NewPacketConn(c), c.LocalAddr().(*net.UDPAddr).Port
	return failed
}

func (x *exchange) obey(name, rest string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch name {
	case "speak":
		text, err := os.ReadFile(rest)
		if err != nil {
			return err.Error()
		}
		x.speech, x.spoken = text, spokenIn(text)
	case "measure":
		clear(x.flows)
		x.replies = nil
	case "replies":
		slices.Sort(x.replies)
		n := len(x.replies)
		if n == 0 {
			return "0 0 0"
		}
		return fmt.Sprint(n, x.replies[n/2].Microseconds(), x.replies[n*95/100].Microseconds())
	case "report":
		return x.report()
	case "arrived":
		return strings.Join(x.arrived, " ")
	}
	return "ok"
}

// report returns the number of calls, the p50 and p99 of each call's worst packet delay in microseconds, the number of
// packets, the percentage with sound, and the numbers of lost packets and of packets that are late by an underrun.
func (x *exchange) report() string {
	var worst []time.Duration
	var packets, sounding, lost, underruns int64
	for _, f := range x.flows {
		worst, underruns = append(worst, f.most-f.least), underruns+f.underruns
		packets, sounding, lost = packets+f.packets, sounding+f.sounding, lost+f.k+1-f.packets
	}
	if len(worst) == 0 {
		return "0 0 0 0 0 0 0"
	}
	slices.Sort(worst)
	return fmt.Sprint(len(worst), worst[len(worst)/2].Microseconds(), worst[len(worst)*99/100].Microseconds(), packets,
		100*sounding/max(1, packets), lost, underruns)
}

// takeRequests answers calls and all requests within them.
func (x *exchange) takeRequests() {
	b := make([]byte, 16<<10)
	for {
		n, from, err := x.sip.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		now := time.Now()
		text := string(b[:n])
		switch method, _, _ := strings.Cut(text, " "); method {
		case "INVITE":
			x.invited(text, from, now)
		case "BYE", "CANCEL", "OPTIONS":
			x.respond(text, from, "200 OK", "")
			if method == "BYE" {
				x.forget(header(text, "Call-ID"))
			}
		}
	}
}

// header returns a header of a request.
func header(text, name string) string {
	for line := range strings.SplitSeq(text, "\r\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (x *exchange) respond(text string, to netip.AddrPort, status, sound string) {
	var b strings.Builder
	b.WriteString("SIP/2.0 " + status + "\r\n")
	for line := range strings.SplitSeq(text, "\r\n") {
		key, _, _ := strings.Cut(line, ":")
		switch strings.ToLower(key) {
		case "via", "from", "call-id", "cseq", "record-route":
			b.WriteString(line + "\r\n")
		case "to":
			if !strings.Contains(line, "tag=") && !strings.HasPrefix(status, "100") {
				line += ";tag=bench"
			}
			b.WriteString(line + "\r\n")
		}
	}
	fmt.Fprintf(&b, "Contact: <sip:bench@%s>\r\n", x.sip.LocalAddr())
	if sound != "" {
		b.WriteString("Content-Type: application/sdp\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(sound), sound)
	_, _ = x.sip.WriteToUDPAddrPort([]byte(b.String()), to) // the request is repeated if the response is lost
}

func (x *exchange) invited(text string, from netip.AddrPort, now time.Time) {
	_, uri, _ := strings.Cut(text, "sip:")
	number, _, _ := strings.Cut(uri, "@")
	if strings.HasPrefix(number, declined) {
		x.mu.Lock()
		x.arrived = append(x.arrived, number+"="+strconv.FormatInt(now.UnixNano(), 10))
		x.mu.Unlock()
		x.respond(text, from, "603 Decline", "")
		return
	}
	_, media, _ := strings.Cut(text, "m=audio ")
	port, _ := strconv.Atoi(strings.SplitN(media, " ", 2)[0])
	x.mu.Lock()
	id := header(text, "Call-ID")
	c := x.calls[id]
	if c == nil {
		c = &answered{to: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, slot: len(x.calls) % slots}
		x.calls[id], x.ports[port] = c, c
		x.order[c.slot] = append(x.order[c.slot], c)
		c.out[0] = 0x80
		binary.BigEndian.PutUint32(c.out[8:], uint32(len(x.calls)))
		c.at = len(x.calls) * 37 // shifts the callees' speech against each other
	}
	x.mu.Unlock()
	x.respond(text, from, "180 Ringing", "")
	x.respond(text, from, "200 OK", fmt.Sprintf(
		"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0 101\r\n"+
			"a=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-16\r\na=sendrecv\r\n", x.own[c.slot]))
}

func (x *exchange) forget(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.calls[id]; c != nil {
		delete(x.calls, id)
		delete(x.ports, c.to.Port)
		x.order[c.slot] = slices.DeleteFunc(x.order[c.slot], func(o *answered) bool { return o == c })
	}
}

// sendSound sends each call a packet every 20 ms.
func (x *exchange) sendSound() {
	next := time.Now()
	var batch []ipv4.Message
	for k := 0; ; k++ {
		next = next.Add(frame / slots)
		time.Sleep(time.Until(next))
		x.mu.Lock()
		batch = batch[:0]
		for _, c := range x.order[k%slots] {
			batch = append(batch, ipv4.Message{Buffers: [][]byte{c.next(x.speech)}, Addr: c.to})
			if x.spoken > 0 && c.at*frameBytes%len(x.speech) == x.spoken && next.Sub(c.heard) > time.Second {
				c.asked = next
			}
		}
		x.mu.Unlock()
		for rest := batch; len(rest) > 0; {
			n, err := x.media[k%slots].WriteBatch(rest, 0)
			if err != nil {
				n = 1 // a call that has just ended
			}
			rest = rest[n:]
		}
	}
}

// next returns the next packet to a call.
func (c *answered) next(speech []byte) []byte {
	c.seq++
	c.at++
	p := c.out[:]
	binary.BigEndian.PutUint16(p[2:], c.seq)
	p[1] = 0
	every := int(pressEvery / frame)
	if press := c.at % every; speech == nil && press < pressFor {
		p[1] = 101
		if press == 0 {
			p[1] |= 0x80
		}
		binary.BigEndian.PutUint32(p[4:], uint32((c.at-press)*frameBytes))
		end := byte(0x0a)
		if press >= pressFor-3 {
			end |= 0x80
		}
		copy(p[rtpHead:], []byte{1, end, byte((press * frameBytes) >> 8), byte(press * frameBytes)})
		return p[:rtpHead+4]
	}
	binary.BigEndian.PutUint32(p[4:], uint32(c.at*frameBytes))
	if speech == nil {
		copy(p[rtpHead:], silence)
	} else {
		at := c.at * frameBytes % len(speech)
		copy(p[rtpHead:], speech[at:min(at+frameBytes, len(speech))])
	}
	return p
}

var silence = bytes.Repeat([]byte{0xff}, frameBytes)

// receiveSound reads all sockets periodically; the kernel has recorded each packet's arrival.
func (x *exchange) receiveSound() {
	batch := make([]ipv4.Message, 256)
	for i := range batch {
		batch[i] = ipv4.Message{Buffers: [][]byte{make([]byte, 256)}, OOB: make([]byte, 64)}
	}
	for {
		time.Sleep(drainEvery)
		for _, c := range x.media {
			for {
				n, err := c.ReadBatch(batch, syscall.MSG_DONTWAIT)
				if err != nil || n == 0 {
					break
				}
				x.mu.Lock()
				for i := range batch[:n] {
					x.received(&batch[i])
				}
				x.mu.Unlock()
				if n < len(batch) {
					break
				}
			}
		}
	}
}

// received counts a packet.
func (x *exchange) received(m *ipv4.Message) {
	const controlHead = 16
	b := m.Buffers[0][:m.N]
	if len(b) < rtpHead || m.NN < controlHead+16 {
		return
	}
	at := time.Duration(binary.NativeEndian.Uint64(m.OOB[controlHead:]))*time.Second +
		time.Duration(binary.NativeEndian.Uint64(m.OOB[controlHead+8:]))
	seq, source := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint32(b[8:])
	f := x.flows[source]
	if f == nil {
		x.flows[source] = &flow{seq: seq, least: at, most: at, packets: 1}
		return
	}
	f.k += int64(int16(seq - f.seq))
	f.seq = seq
	late := at - time.Duration(f.k)*frame
	f.least, f.most = min(f.least, late), max(f.most, late)
	f.packets++
	if late-f.least > underrun {
		f.underruns++
	}
	if b[1]&0x7f == 0 && !bytes.Equal(b[rtpHead:], silence) {
		f.sounding++
		x.sounds(m, time.Unix(0, int64(at)))
	}
}

// sounds measures the reply to a callee, which begins with sound.
func (x *exchange) sounds(m *ipv4.Message, at time.Time) {
	from, ok := m.Addr.(*net.UDPAddr)
	if !ok || x.ports[from.Port] == nil {
		return
	}
	c := x.ports[from.Port]
	if c.heard = at; !c.asked.IsZero() && at.After(c.asked) {
		x.replies = append(x.replies, at.Sub(c.asked))
		c.asked = time.Time{}
	}
}

// spokenIn returns the number of bytes of compressed speech before its pause, in whole frames.
func spokenIn(speech []byte) int {
	n := len(spoken(audio.Mu.Expand(nil, speech)))
	return (n + frameBytes - 1) / frameBytes * frameBytes
}

// spoken returns speech without the silence after it.
func spoken(pcm []int16) []int16 {
	for i, v := range slices.Backward(pcm) {
		if v > audible || v < -audible {
			return pcm[:i+1]
		}
	}
	return nil
}

// compressed returns sound in the form that callees send, followed by silence.
func compressed(pcm []int16, pause time.Duration) []byte {
	b := audio.Mu.Compress(nil, append(slices.Clone(pcm), make([]int16, audio.Count(pause, 8000))...))
	return b[:len(b)/frameBytes*frameBytes]
}
