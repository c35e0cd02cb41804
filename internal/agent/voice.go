package agent

import "cmp"

// Defaults of Voice.
const (
	DefaultSpeaker     = "espeak"
	DefaultTranscriber = "none"
	DefaultSilenceMS   = 600
)

// Settings returns a copy with the defaults filled in; those of an agent without a voice are the defaults.
func (v *Voice) Settings() *Voice {
	var s Voice
	if v != nil {
		s = *v
	}
	s.Speaker = cmp.Or(s.Speaker, DefaultSpeaker)
	s.Transcriber = cmp.Or(s.Transcriber, DefaultTranscriber)
	s.Speed = cmp.Or(s.Speed, 1)
	s.SilenceMS = cmp.Or(s.SilenceMS, DefaultSilenceMS)
	return &s
}
