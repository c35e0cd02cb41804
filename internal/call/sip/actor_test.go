package sip

import (
	"encoding/xml"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// actor plays a sipp scenario in an in-memory network. It supports the part of the scenario language used by these
// tests.
type actor struct {
	t       *testing.T
	conn    net.PacketConn
	media   net.PacketConn
	ended   chan error
	address net.Addr // of the engine
	last    string   // last received message
	held    string   // received message that no step has consumed yet
	seen    map[string]bool
	next    string // address for requests within the call
	values  map[string]string

	payload atomic.Int32 // type of the last packet of sound

	mu    sync.Mutex
	trace strings.Builder
}

// actorStep is an element of a scenario.
type actorStep struct {
	XMLName      xml.Name
	Request      string `xml:"request,attr"`
	Response     string `xml:"response,attr"`
	Optional     bool   `xml:"optional,attr"`
	Milliseconds int    `xml:"milliseconds,attr"`
	Text         string `xml:",chardata"`
	Action       struct {
		All []struct {
			XMLName  xml.Name
			Regexp   string `xml:"regexp,attr"`
			Header   string `xml:"header,attr"`
			AssignTo string `xml:"assign_to,attr"`
			Value    string `xml:"value,attr"`
		} `xml:",any"`
	} `xml:"action"`
}

// act starts an actor. engine is the address to call, or zero if the actor is called. With echo, it sends back the
// sound it receives.
func act(t *testing.T, n Network, echo bool, engine netip.AddrPort, steps []string) *actor {
	t.Helper()
	var scenario struct {
		Steps []actorStep `xml:",any"`
	}
	d := xml.NewDecoder(strings.NewReader(strings.Replace(scenarioOf(steps), "ISO-8859-1", "UTF-8", 1)))
	if err := d.Decode(&scenario); err != nil {
		t.Fatal(err)
	}
	a := &actor{t: t, ended: make(chan error, 1), seen: map[string]bool{}, values: map[string]string{}}
	for _, c := range []*net.PacketConn{&a.conn, &a.media} {
		var err error
		if *c, err = n.ListenPacket(t.Context(), "udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	if engine.IsValid() {
		a.address = net.UDPAddrFromAddrPort(engine)
	}
	t.Cleanup(func() {
		_, _ = a.conn.Close(), a.media.Close()
		if t.Failed() {
			t.Logf("the peer exchanged:\n%s", a.exchanged())
		}
	})
	go a.hear(echo)
	go func() { a.ended <- a.play(scenario.Steps) }()
	return a
}

// hear receives sound.
func (a *actor) hear(echo bool) {
	for b := make([]byte, 1500); ; {
		n, from, err := a.media.ReadFrom(b)
		if err != nil {
			return
		}
		if n > 1 {
			a.payload.Store(int32(b[1] & 0x7f))
		}
		if echo {
			_, _ = a.media.WriteTo(b[:n], from)
		}
	}
}

func (a *actor) play(steps []actorStep) error {
	for i := range steps {
		switch s := &steps[i]; s.XMLName.Local {
		case "pause":
			time.Sleep(time.Duration(s.Milliseconds) * time.Millisecond)
		case "send":
			text := a.expand(s.Text, i)
			a.note("sent", text)
			if _, err := a.conn.WriteTo([]byte(text), a.address); err != nil {
				return err
			}
		case "recv":
			if err := a.receive(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive waits for the message that a step expects. Repeated messages are skipped.
func (a *actor) receive(s *actorStep) error {
	for b := make([]byte, 65_536); a.held == ""; {
		n, from, err := a.conn.ReadFrom(b)
		if err != nil {
			return err
		}
		if text := string(b[:n]); !a.seen[text] {
			a.held, a.address, a.seen[text] = text, from, true
			a.note("received", text)
		}
	}
	head, _, _ := strings.Cut(a.held, "\r\n")
	first, rest, _ := strings.Cut(head, " ")
	if code, _, _ := strings.Cut(rest, " "); first != s.Request && (s.Response == "" || first != "SIP/2.0" || code != s.Response) {
		if s.Optional {
			return nil
		}
		return fmt.Errorf("%q came, not %s%s", head, s.Request, s.Response)
	}
	a.last, a.held = a.held, ""
	if contact := a.header("Contact"); len(contact) > 0 {
		_, address, _ := strings.Cut(contact[0], "<")
		a.next, _, _ = strings.Cut(address, ">")
	}
	for _, x := range s.Action.All {
		if x.XMLName.Local == "assignstr" {
			a.values[x.AssignTo] = a.expand(x.Value, 0)
			continue
		}
		value := ""
		if all := a.header(strings.TrimSuffix(x.Header, ":")); len(all) > 0 {
			_, value, _ = strings.Cut(all[0], ":")
		}
		a.values[x.AssignTo] = regexp.MustCompile(x.Regexp).FindString(value)
	}
	return nil
}

// header returns the lines of a header of the last message.
func (a *actor) header(name string) (lines []string) {
	head, _, _ := strings.Cut(a.last, "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(line[:len(name)], name) {
			lines = append(lines, line)
		}
	}
	return lines
}

var keyword = regexp.MustCompile(`\[([a-z_]+|last_[A-Za-z-]+:|\$[a-z]+|branch-[0-9])\]`)

// expand fills in the placeholders of a message; step is its index in the scenario.
func (a *actor) expand(text string, step int) string {
	port := func(c net.PacketConn) string { return fmt.Sprint(c.LocalAddr().(*net.UDPAddr).Port) }
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
	text = keyword.ReplaceAllStringFunc(text, func(place string) string {
		switch name := place[1 : len(place)-1]; name {
		case "local_ip", "media_ip", "remote_ip":
			return "127.0.0.1"
		case "local_port":
			return port(a.conn)
		case "media_port":
			return port(a.media)
		case "remote_port":
			return fmt.Sprint(a.address.(*net.UDPAddr).Port)
		case "transport":
			return "UDP"
		case "service":
			return "15555550100"
		case "pid", "call_number":
			return "1"
		case "call_id":
			return "1@127.0.0.1"
		case "next_url":
			return a.next
		case "branch":
			return fmt.Sprintf("z9hG4bK-1-%d", step)
		case "branch-2":
			return fmt.Sprintf("z9hG4bK-1-%d", step-2)
		case "len":
			return place // filled in after everything else
		default:
			if of, ok := strings.CutPrefix(name, "$"); ok {
				return a.values[of]
			}
			of, _ := strings.CutPrefix(strings.TrimSuffix(name, ":"), "last_")
			return strings.Join(a.header(of), "\n")
		}
	})
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	_, body, _ := strings.Cut(text, "\r\n\r\n")
	return strings.Replace(text, "[len]", fmt.Sprint(len(body)), 1)
}

func (a *actor) note(what, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(&a.trace, "message %s\n\n%s\n", what, text)
}

func (a *actor) trunk() Trunk {
	return Trunk{Host: a.conn.LocalAddr().String(), Transport: "udp"}
}

func (a *actor) done() {
	a.t.Helper()
	select {
	case err := <-a.ended:
		if err != nil {
			a.t.Errorf("the peer met something else: %v", err)
		}
	case <-time.After(hung):
		a.t.Error("the peer does not end")
	}
}

func (a *actor) exchanged() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trace.String()
}
