package convai_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/edge/convai"
	"carillon/internal/voice"
)

// binaryFrames begins a conversation with sound in binary frames.
func (x *talk) binaryFrames() *person {
	x.t.Helper()
	p := x.dial()
	p.say(`{"type":"conversation_initiation_client_data","source_info":{"audio":"binary"}}`)
	if m, _ := p.next()["conversation_initiation_metadata_event"].(map[string]any); m["audio"] != "binary" {
		x.t.Fatal("the metadata are ", m)
	}
	return p
}

func (p *person) sound(data []byte) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageBinary, data); err != nil {
		p.t.Fatal(err)
	}
}

// echo sends all sound back as the response 5.
func echo(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
	c.Show(voice.Event{Kind: voice.Sounding, ID: 5})
	for {
		pcm, err := c.Line().Read(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.Line().Write(pcm); err != nil {
			return err
		}
	}
}

func TestBinaryFramesCarrySoundBothWays(t *testing.T) {
	x := serve(t, echo)
	p := x.binaryFrames()
	sound := make([]byte, 8192)
	for i := range sound {
		sound[i] = byte(i * 7)
	}
	p.sound(append(bytes.Clone(sound), 1)) // a byte too many
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	var back []byte
	for len(back) < len(sound) {
		kind, data, err := p.ws.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.MessageText {
			continue // a ping
		}
		if len(data) > 3204 || binary.LittleEndian.Uint32(data) != 5 {
			t.Fatalf("%d bytes of the response %d", len(data), binary.LittleEndian.Uint32(data))
		}
		back = append(back, data[4:]...)
	}
	if !bytes.Equal(back, sound) {
		t.Error("other sound came back")
	}
	_ = p.ws.Close(websocket.StatusNormalClosure, "")
	if err := x.ended(); err != nil {
		t.Error(err)
	}
}

func TestBinaryFramesHaveTheLimitsOfSound(t *testing.T) {
	x := serve(t, quiet)
	p := x.binaryFrames()
	p.sound(nil)
	second := make([]byte, 2*convai.Rate)
	for range 30 {
		_ = p.ws.Write(t.Context(), websocket.MessageBinary, second) // the server may close the connection in between
	}
	if code, reason := p.closed(); code != websocket.StatusPolicyViolation || reason != "Too much sound" {
		t.Error("thirty seconds at once:", code, reason)
	}
	p = x.binaryFrames()
	_ = p.ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20+1))
	if code, _ := p.closed(); code != websocket.StatusMessageTooBig {
		t.Error("a frame of more than 1 MiB:", code)
	}
	p = x.begin()
	p.sound(second) // without the offer in the initiation
	if code, _ := p.closed(); code != websocket.StatusPolicyViolation {
		t.Error("binary sound that was not agreed on:", code)
	}
}

func TestABrokenPlaybackGetsALongerLead(t *testing.T) {
	leads := make(chan time.Duration)
	x := serve(t, func(ctx context.Context, c *convai.Conn, _ *convai.Initiation) error {
		for {
			if _, err := c.Line().Read(ctx); err != nil {
				return nil //nolint:nilerr // the end of the line
			}
			leads <- c.Line().Lead()
		}
	})
	p := x.begin()
	for _, want := range []time.Duration{300 * time.Millisecond, time.Second} {
		p.say(`{"user_audio_chunk":"AAAA"}`)
		if got := <-leads; got != want {
			t.Errorf("a lead of %v, want %v", got, want)
		}
		p.say(`{"type":"user_playback","underruns":1}`)
	}
}
