package rtp

import "carillon/internal/base/audio"

const (
	targetFrames = 3  // 60 ms of buffered sound before playback starts
	maxFrames    = 25 // more than half a second of buffered frames is unnecessary delay
	aheadFrames  = 6  // above this number, quiet frames are skipped, which is not noticeable
	quietFrame   = 60 // RMS
	maxHide      = 5  // maximum number of missing frames in a row that are replaced
)

// jitter orders frames and returns them at a steady pace. A missing frame is replaced by the previous one, fading out.
type jitter struct {
	frames  map[uint16][]int16
	next    uint16 // sequence number of the frame to play next
	playing bool
	known   bool // next is valid
	last    []int16
	hidden  int

	late, lost int64
}

func newJitter() *jitter { return &jitter{frames: map[uint16][]int16{}} }

// add takes a received frame.
func (j *jitter) add(seq uint16, pcm []int16) {
	switch ahead := int16(seq - j.next); {
	case !j.known:
		j.known, j.next = true, seq
	case ahead < 0 && !j.playing && ahead > -maxFrames: // the first frames arrived out of order
		j.next = seq
	case ahead < 0 && ahead > -maxFrames:
		j.late++
		return
	case ahead > 4*maxFrames || ahead < 0: // another stream
		clear(j.frames)
		j.next, j.playing = seq, false
	}
	j.frames[seq] = pcm
	for len(j.frames) > maxFrames {
		for len(j.frames) > targetFrames {
			delete(j.frames, j.next)
			j.next++
		}
	}
}

// take returns the frame to play now, or nil for silence.
func (j *jitter) take() []int16 {
	if !j.playing {
		if len(j.frames) < targetFrames {
			return nil
		}
		j.playing = true
	}
	pcm, ok := j.frames[j.next]
	for ok && len(j.frames) > aheadFrames && audio.RMS(pcm) < quietFrame {
		delete(j.frames, j.next)
		j.next++
		pcm, ok = j.frames[j.next]
	}
	if ok {
		delete(j.frames, j.next)
		j.next++
		j.last, j.hidden = pcm, 0
		return pcm
	}
	j.hidden++
	switch {
	case len(j.frames) > 0: // lost, or late
		j.lost++
		j.next++
	case j.hidden > maxHide: // the stream has stopped
		j.playing = false
		return nil
	}
	return j.hide()
}

// hide returns a replacement for a missing frame.
func (j *jitter) hide() []int16 {
	if j.hidden > maxHide {
		return nil
	}
	quieter := make([]int16, len(j.last))
	for i, s := range j.last {
		quieter[i] = s / 2
	}
	j.last = quieter
	return quieter
}
