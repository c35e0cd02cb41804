package agent

import (
	"cmp"

	"carillon/internal/base/resource"
)

// Voice configures an agent's speech and its transcription.
type Voice struct {
	Speaker            string   `json:"speaker" enum:"espeak,openai"`                     // espeak or openai
	Transcriber        string   `json:"transcriber" enum:"none,pocketsphinx,openai,vosk"` // none, pocketsphinx, openai or vosk
	Name               string   `json:"name,omitempty"`                                   // voice; the language's default if empty
	Speed              float64  `json:"speed"`                                            // 1 is normal, about 160 words per minute
	SilenceMS          int      `json:"silence_ms"`                                       // silence that ends a person's turn
	SpeakerService     *Service `json:"speaker_service,omitempty"`                        // for speaker openai
	TranscriberService *Service `json:"transcriber_service,omitempty"`                    // for transcriber openai or vosk
}

// Service is a server for speech or transcription.
type Service struct {
	BaseURL string `json:"base_url"` // a ws or wss URL for vosk
	Model   string `json:"model,omitempty"`
	APIKey  string `json:"api_key,omitempty" secret:"true"`
}

// Defaults of Voice. The default speed is 1.
const (
	DefaultSpeaker     = "espeak"
	DefaultTranscriber = "none"
	DefaultSilenceMS   = 600
)

// Settings returns a copy with the defaults filled in. A nil Voice returns the defaults.
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

func (v *Voice) validate(c *resource.Check) {
	const at = "voice"
	c.Choice(at+".speaker", &v.Speaker, DefaultSpeaker, "openai")
	c.Choice(at+".transcriber", &v.Transcriber, DefaultTranscriber, "pocketsphinx", "openai", "vosk")
	if v.Name != "" {
		c.Name(at+".name", v.Name)
	}
	v.Speed, v.SilenceMS = cmp.Or(v.Speed, 1), cmp.Or(v.SilenceMS, DefaultSilenceMS)
	c.That(v.Speed >= 0.5 && v.Speed <= 2, at+".speed", "Must be from 0.5 to 2")
	c.That(v.SilenceMS >= 200 && v.SilenceMS <= 2000, at+".silence_ms", "Must be from 200 to 2,000")
	v.SpeakerService = v.SpeakerService.validate(c, at+".speaker_service", "speaker", v.Speaker)
	v.TranscriberService = v.TranscriberService.validate(c, at+".transcriber_service", "transcriber", v.Transcriber)
}

// validate checks the server of a speaker or transcriber. It returns nil if the server is neither used nor named.
func (s *Service) validate(c *resource.Check, at, of, used string) *Service {
	needed := used == "openai" || used == "vosk"
	if s == nil || s.BaseURL == "" && !needed {
		c.That(!needed, at, "Must stand where the "+of+" is "+used)
		return nil
	}
	switch {
	case used == "vosk":
		server(c, at, &s.BaseURL, socketRule, "ws", "wss")
	case needed:
		server(c, at, &s.BaseURL, httpRule, "http", "https")
	default:
		server(c, at, &s.BaseURL, anyRule, "http", "https", "ws", "wss")
	}
	if s.Model != "" || used == "openai" {
		c.Name(at+".model", s.Model)
	}
	key(c, at, s.APIKey)
	return s
}
