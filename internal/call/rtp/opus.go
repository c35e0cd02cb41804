package rtp

import (
	"math"
	"slices"

	"github.com/pion/rtp"
	"github.com/thesyncim/gopus"
)

// Opus (RFC 6716, RFC 7587) in one channel, at the rate of calls. Its timestamps count 48,000 units a second at any
// rate of the sound.
const (
	opusUnits   = 48_000 / Rate // of a sample
	opusBitrate = 24_000
	opusEffort  = 5  // complexity: a sixth of a millisecond for a frame
	opusLoss    = 10 // percent for which redundancy is sent
	maxOpusTime = 6 * frameSamples
)

// encoder encodes frames of 20 ms.
type encoder interface {
	// encode writes a packet, and returns its length.
	encode(packet []byte, frame []int16) (int, error)
}

// decoder decodes the packets of a stream, of 2.5 to 120 ms, in their order.
type decoder interface {
	decode(packet []byte) ([]int16, error)
	// conceal returns a replacement for a lost packet, by the redundancy in the packet after it if there is one. It is
	// empty before the first packet.
	conceal(after []byte) ([]int16, error)
}

type opusEncoder struct{ e *gopus.Encoder }

func newEncoder() (encoder, error) {
	e, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: Rate, Channels: 1, Application: gopus.ApplicationVoIP})
	if err != nil {
		return nil, err
	}
	for _, set := range []error{
		e.SetFrameSize(frameSamples), e.SetBitrate(opusBitrate), e.SetComplexity(opusEffort), e.SetPacketLoss(opusLoss),
		e.SetSignal(gopus.SignalVoice),
	} {
		if set != nil {
			return nil, set
		}
	}
	e.SetFEC(true)
	return opusEncoder{e}, nil
}

func (o opusEncoder) encode(packet []byte, frame []int16) (int, error) {
	return o.e.EncodeInt16(frame, packet)
}

type opusDecoder struct {
	d    *gopus.Decoder
	last int // samples of the last packet
}

func newDecoder() (decoder, error) {
	d, err := gopus.NewDecoder(gopus.DecoderConfig{SampleRate: Rate, Channels: 1, MaxPacketSamples: maxOpusTime, MaxPacketBytes: maxPacket})
	if err != nil {
		return nil, err
	}
	return &opusDecoder{d: d}, nil
}

func (o *opusDecoder) decode(packet []byte) ([]int16, error) {
	pcm := make([]int16, maxOpusTime)
	n, err := o.d.DecodeInt16(packet, pcm)
	if err != nil {
		return nil, err
	}
	o.last = n
	return pcm[:n], nil
}

func (o *opusDecoder) conceal(after []byte) ([]int16, error) {
	if o.last == 0 {
		return nil, nil
	}
	sound := make([]float32, o.last)
	n, err := o.d.DecodeWithFEC(after, sound, len(after) > 0)
	if err != nil {
		return nil, err
	}
	pcm := make([]int16, n)
	for i, v := range sound[:n] {
		pcm[i] = int16(math.Round(float64(max(-1, min(1, v))) * math.MaxInt16))
	}
	return pcm, nil
}

const (
	maxHeld    = 6 * frameSamples // sound that waits for a packet before it
	maxConceal = 5                // packets in a row; the jitter buffer replaces more by silence
)

// opusLine puts the packets of a stream in order and decodes them: unlike G.711, their sound depends on the previous
// packets.
type opusLine struct {
	decoder decoder
	ssrc    uint32
	next    uint16       // sequence number of the packet to decode next
	length  int          // samples of the last packet
	held    []rtp.Packet // packets after a missing one, by their order
}

// take decodes the packets that are due. play gets the sound of each packet, and of the replacements for lost ones.
func (o *opusLine) take(p *rtp.Packet, play func(p *rtp.Packet, pcm []int16, lost bool)) {
	if len(p.Payload) == 0 {
		return
	}
	ahead := int(int16(p.SequenceNumber - o.next))
	if o.decoder == nil || p.SSRC != o.ssrc || ahead > maxAhead || ahead < -maxAhead {
		d, err := newDecoder()
		if err != nil {
			return
		}
		*o, ahead = opusLine{decoder: d, ssrc: p.SSRC, next: p.SequenceNumber}, 0
	}
	if ahead < 0 { // late
		return
	}
	at, double := slices.BinarySearchFunc(o.held, ahead, func(x rtp.Packet, ahead int) int {
		return int(int16(x.SequenceNumber-o.next)) - ahead
	})
	if double {
		return
	}
	held := *p
	held.Payload = slices.Clone(p.Payload) // the receiver reuses its buffer
	o.held = slices.Insert(o.held, at, held)
	for len(o.held) > 0 && (o.lost() == 0 || len(o.held)*o.length > maxHeld) {
		o.advance(play)
	}
}

// lost returns the number of packets that are missing before the first held one.
func (o *opusLine) lost() int { return int(o.held[0].SequenceNumber - o.next) }

// advance decodes the first held packet, after replacements for those that were lost before it.
func (o *opusLine) advance(play func(p *rtp.Packet, pcm []int16, lost bool)) {
	p, lost := o.held[0], o.lost()
	o.held = slices.Delete(o.held, 0, 1)
	for n := min(lost, maxConceal); n > 0; n-- {
		var after []byte
		if n == 1 {
			after = p.Payload
		}
		pcm, err := o.decoder.conceal(after)
		if err != nil || len(pcm) == 0 {
			break
		}
		x := rtp.Packet{Header: p.Header}
		x.SequenceNumber, x.Timestamp = p.SequenceNumber-uint16(n), p.Timestamp-uint32(n*len(pcm)*opusUnits)
		play(&x, pcm, true)
	}
	o.next = p.SequenceNumber + 1
	pcm, err := o.decoder.decode(p.Payload)
	if err != nil {
		return
	}
	o.length = len(pcm)
	play(&p, pcm, false)
}
