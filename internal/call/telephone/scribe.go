package telephone

import (
	"context"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/voice"
)

// Bounds of a transcription outside of a conversation.
const (
	pieceEnds   = 400 * time.Millisecond // silence after a piece of speech
	maxPiece    = 20 * time.Second
	minPiece    = 150 * time.Millisecond
	piecesWait  = 4
	pieceResult = 5 * time.Second
)

// scribe transcribes what a machine says, piece by piece.
type scribe struct {
	transcriber voice.Transcriber // nil: nothing is transcribed
	hearing     voice.Hearing
	texts       chan said
	pieces      chan []int16
	pcm         []int16
	speech      time.Duration
}

// said is the transcript of a piece of speech of a length.
type said struct {
	text   string
	length time.Duration
}

func newScribe(ctx context.Context, t voice.Transcriber, companyID string, v *agent.Voice, tag string, rate int) *scribe {
	s := &scribe{
		transcriber: t, hearing: voice.Hearing{CompanyID: companyID, Voice: v, Language: tag, Rate: rate},
		texts: make(chan said, piecesWait), pieces: make(chan []int16, piecesWait),
	}
	if t != nil {
		go s.run(ctx)
	}
	return s
}

// hear adds sound; quiet is the time since the last speech.
func (s *scribe) hear(pcm []int16, quiet time.Duration) {
	if s.transcriber == nil {
		return
	}
	d := audio.Duration(len(pcm), s.hearing.Rate)
	switch s.pcm = append(s.pcm, pcm...); {
	case quiet == 0:
		s.speech += d
	case s.speech == 0: // keep a moment before the speech
		keep := audio.Count(pieceEnds, s.hearing.Rate)
		s.pcm = s.pcm[max(0, len(s.pcm)-keep):]
		return
	}
	if quiet < pieceEnds && audio.Duration(len(s.pcm), s.hearing.Rate) < maxPiece {
		return
	}
	if s.speech >= minPiece {
		select {
		case s.pieces <- s.pcm:
		default: // the transcriber is too slow
		}
	}
	s.pcm, s.speech = nil, 0
}

func (s *scribe) run(ctx context.Context) {
	for {
		select {
		case pcm := <-s.pieces:
			text, err := s.transcribe(ctx, pcm)
			if err != nil {
				continue // sound alone decides
			}
			select {
			case s.texts <- said{text, audio.Duration(len(pcm), s.hearing.Rate) - pieceEnds}:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *scribe) transcribe(ctx context.Context, pcm []int16) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pieceResult)
	defer cancel()
	err = voice.Guard(func() error {
		r, err := s.transcriber.Listen(ctx, s.hearing)
		if err != nil {
			return err
		}
		defer r.Close()
		if err := r.Write(pcm); err != nil {
			return err
		}
		t, err := r.Result(ctx)
		text = t.Text
		return err
	})
	return text, err
}
