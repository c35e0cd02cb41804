package rtp

import "carillon/internal/base/audio"

const (
	targetFrames = 3   // 60 ms of buffered sound before playback starts, or two packets
	maxFrames    = 25  // more than half a second of buffered sound is unnecessary delay
	aheadFrames  = 6   // above this number, quiet frames are skipped, which is not noticeable
	lowFrames    = 250 // after this many frames with none buffered, a quiet frame is repeated
	quietFrame   = 60  // RMS
	maxHide      = 5   // maximum number of missing frames in a row that are replaced

	maxAhead    = 100                      // packets; a larger step is another stream
	maxGap      = 2 * Rate                 // samples between two packets of one stream
	maxBuffered = maxFrames * frameSamples // samples
	ringSize    = 4096                     // more than maxBuffered
	firstAt     = 1 << 32                  // positions are never negative
)

// jitter orders the samples of a stream and returns them in frames of 20 ms at a steady pace, for any length of the
// stream's packets. Missing samples are replaced by the previous frame, fading out.
//
// A sample has a position, which counts from the beginning of the stream. A packet that directly follows another begins
// where that one ended, regardless of its timestamp; timestamps say how much was lost in between.
type jitter struct {
	ring  [ringSize]int16
	have  [ringSize]bool // by position
	next  int64          // position of the frame to play next
	end   int64          // position after the last sample
	known bool           // the fields of the last packet are valid

	ssrc   uint32
	seq    uint16 // of the packet with the highest number
	stamp  uint32
	at     int64 // its position
	length int   // its samples
	units  int64 // timestamp units of a sample

	playing bool
	last    []int16
	hidden  int // frames that were replaced in a row
	waited  int // of them, those that were replaced because they may still arrive
	low     int // consecutive frames with no other buffered after them

	late, lost int64
}

func newJitter() *jitter { return &jitter{next: firstAt, end: firstAt, units: 1} }

// add takes a received packet.
func (j *jitter) add(ssrc uint32, seq uint16, stamp uint32, pcm []int16) {
	ahead := int(int16(seq - j.seq))
	if !j.known || ssrc != j.ssrc || ahead > maxAhead || ahead < -maxAhead {
		j.restart()
		j.known, j.ssrc, ahead = true, ssrc, 1
	}
	at := j.position(ahead, stamp)
	if ahead > 0 {
		j.seq, j.stamp, j.at, j.length = seq, stamp, at, len(pcm)
	}
	switch {
	case !j.playing && j.end <= j.next: // the first of the stream, or after a pause
		j.next, j.end = at, at
	case !j.playing && at < j.next && j.end-at <= maxBuffered: // the first packets arrived out of order
		j.next = at
	case at+int64(len(pcm)) <= j.next:
		j.late++
		return
	case ahead > 1 && j.waited > 0:
		j.skip(min(at-j.next, int64(j.waited*frameSamples)))
	}
	j.waited = 0
	if over := at + int64(len(pcm)) - j.next - maxBuffered; over > 0 {
		j.skip(over + maxBuffered - targetFrames*frameSamples)
	}
	for i, v := range pcm {
		if p := at + int64(i); p >= j.next {
			j.ring[p%ringSize], j.have[p%ringSize] = v, true
		}
	}
	j.end = max(j.end, at+int64(len(pcm)))
}

// restart drops the samples that are left, for another stream.
func (j *jitter) restart() {
	j.skip(j.end - j.next)
	j.at, j.length, j.playing = j.end, 0, false
}

// position returns the position of a packet that is a number of packets ahead of the last one.
func (j *jitter) position(ahead int, stamp uint32) int64 {
	passed := int64(int32(stamp-j.stamp)) / j.units
	switch {
	case ahead == 1:
		return j.at + int64(j.length)
	case ahead > 1 && passed >= int64(j.length) && passed <= maxGap, ahead < 1 && passed < 0 && passed >= -maxGap:
		return j.at + passed
	}
	return j.at + int64(ahead*j.length)
}

// skip drops samples.
func (j *jitter) skip(n int64) {
	for to := j.next + max(0, n); j.next < to; j.next++ {
		j.have[j.next%ringSize] = false
	}
	j.end = max(j.end, j.next)
}

// frame copies the frame to play next, with a replacement for missing samples: those of the previous frame, quieter. missing
// is their number.
func (j *jitter) frame() (pcm []int16, missing int) {
	pcm = make([]int16, frameSamples)
	for i := range pcm {
		switch p := (j.next + int64(i)) % ringSize; {
		case j.have[p]:
			pcm[i] = j.ring[p]
			continue
		case j.hidden < maxHide && len(j.last) > 0:
			pcm[i] = j.last[i] / 2
		}
		missing++
	}
	return pcm, missing
}

// take returns the frame to play now, or nil for silence.
func (j *jitter) take() []int16 {
	if !j.playing {
		if j.end-j.next < int64(max(targetFrames*frameSamples, 2*j.length)) {
			return nil
		}
		j.playing = true
	}
	if j.end-j.next > frameSamples {
		j.low = -1
	}
	j.low++
	pcm, missing := j.frame()
	for missing == 0 && j.end-j.next > aheadFrames*frameSamples && audio.RMS(pcm) < quietFrame {
		j.skip(frameSamples)
		pcm, missing = j.frame()
	}
	switch {
	case missing == 0 && j.low > lowFrames && audio.RMS(pcm) < quietFrame: // the sender's clock is slower
		j.low = 0
	case missing == 0:
		j.hidden = 0
		j.skip(frameSamples)
	case j.end-j.next >= frameSamples: // lost, or late
		j.hidden++
		j.lost++
		j.skip(frameSamples)
	case j.hidden >= maxHide: // the stream has stopped
		j.skip(j.end - j.next)
		j.playing, j.last, j.hidden, j.waited = false, nil, 0, 0
		return nil
	default: // the rest of the frame may still arrive
		j.hidden++
		j.waited++
		pcm = j.faded()
	}
	j.last = pcm
	return pcm
}

// faded returns the previous frame, quieter.
func (j *jitter) faded() []int16 {
	pcm := make([]int16, frameSamples)
	for i, s := range j.last {
		pcm[i] = s / 2
	}
	return pcm
}
