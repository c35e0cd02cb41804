package sip

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/call/sip/metatest"
)

const (
	ownNumber = "15550100101"
	ownHost   = "sip.acme.test"
	ownSecret = "made by the channel"
)

// trusted returns a certificate for the host and for this machine.
func trusted(t *testing.T) *tls.Config {
	t.Helper()
	c, err := metatest.Certificate(ownHost)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func metaPeer(t *testing.T, o metatest.Options) *metatest.Peer {
	t.Helper()
	o.Number, o.Hostname, o.Password = ownNumber, ownHost, ownSecret
	p, err := metatest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// lineTo returns the trunk of a line for calls over WhatsApp.
func lineTo(address string) Trunk {
	return Trunk{
		Host: address, Transport: "tls", Domain: ownHost, Username: ownNumber, Password: ownSecret, Realm: metatest.Realm, Encrypt: true,
		Authenticate: true, WhatsApp: "main",
	}
}

func ring(t *testing.T, e *Engine, trunk Trunk, o Dial) (*Call, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	o.Trunk, o.To, o.From = trunk, "34600111222", ownNumber
	return e.Dial(ctx, o)
}

func TestACallOverWhatsAppIsPlacedAsTheChannelWants(t *testing.T) {
	t.Parallel()
	for name, opus := range map[string]bool{"G.711": false, "Opus": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := trusted(t)
			p := metaPeer(t, metatest.Options{TLS: files, Opus: opus})
			e := engine(t, Options{TLS: "127.0.0.1:0", TLSFiles: files})
			wacid := ""
			c, err := ring(t, e, lineTo(p.Address()), Dial{OnHeader: func(header func(string) string) {
				if id := header("x-wa-meta-wacid"); id != "" {
					wacid = id
				}
			}})
			if err != nil {
				t.Fatal(err, p.Faults())
			}
			far := await(t, p.Calls())
			if far.Number != "34600111222" || far.WACID != wacid || wacid == "" || !c.Encrypted() {
				t.Errorf("%+v, id %q", far, wacid)
			}
			if opus {
				for _, packets := far.Heard(); packets < 5; _, packets = far.Heard() {
					_, _ = c.Read(t.Context())
				}
			} else {
				speak(t, c, far)
			}
			c.HangUp(t.Context())
			await(t, far.Done())
			if faults := p.Faults(); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

// speak sends sound both ways, again and again, and finds its bytes at the other side.
func speak(t *testing.T, c *Call, far *metatest.Call) {
	t.Helper()
	there, back := tone(100*time.Millisecond, 1), audio.Mu.Compress(nil, tone(100*time.Millisecond, 7))
	var in []byte
	for n := 0; ; n++ {
		if n%20 == 0 {
			if err := c.Write(there); err != nil {
				t.Fatal(err)
			}
			far.Say(back)
		}
		pcm, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		in = audio.Mu.Compress(in, pcm)
		if out, _ := far.Heard(); bytes.Contains(out, audio.Mu.Compress(nil, there)) && bytes.Contains(in, back) {
			return
		}
	}
}

func TestAWrongCallOverWhatsAppIsRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(*Trunk)
		code   int
	}{
		"another host in From": {func(x *Trunk) { x.Domain = "other.acme.test" }, 403},
		"without encryption":   {func(x *Trunk) { x.Encrypt = false }, 488},
		"a wrong password":     {func(x *Trunk) { x.Password = "guess" }, 407},
		"no E.164":             {func(x *Trunk) { x.WhatsApp = "" }, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := trusted(t)
			p := metaPeer(t, metatest.Options{TLS: files})
			e := engine(t, Options{TLS: "127.0.0.1:0", TLSFiles: files})
			trunk := lineTo(p.Address())
			x.change(&trunk)
			_, err := ring(t, e, trunk, Dial{})
			var refused *Refused
			if !errors.As(err, &refused) || refused.Code != x.code {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestACallOverWhatsAppComesInAndProvesItself(t *testing.T) {
	t.Parallel()
	files := trusted(t)
	p := metaPeer(t, metatest.Options{TLS: files})
	trunk := lineTo(p.Address())
	calls := make(chan *Call, 1)
	e := engine(t, Options{TLS: "127.0.0.1:0", TLSFiles: files, OnCall: func(in *Incoming) {
		go func() {
			var why *Refused
			if errors.As(in.Demand(trunk), &why) {
				in.Refuse(why.Code, why.Reason)
				return
			}
			in.Confined = true
			c, err := in.Answer(context.Background(), nil)
			if err != nil {
				t.Error(err)
			}
			calls <- c
		}()
	}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	var refused *metatest.Refused
	_, err := p.Ring(t.Context(), e.SecureAddress().String(), metatest.Person{Number: "34600111222"}, "guess")
	if !errors.As(err, &refused) || refused.Code != 401 {
		t.Errorf("a wrong password: %v", err)
	}
	for _, by := range []By{Them, Us} {
		far, err := p.Ring(t.Context(), e.SecureAddress().String(), metatest.Person{Number: "34600111222"}, "")
		if err != nil {
			t.Fatal(err, p.Faults())
		}
		c := await(t, calls)
		speak(t, c, far)
		if by == Them {
			far.HangUp()
		} else {
			c.HangUp(t.Context())
			await(t, far.Done())
		}
		if cause := ended(t, c); cause.By != by {
			t.Errorf("%+v", cause)
		}
	}
	if faults := p.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}
