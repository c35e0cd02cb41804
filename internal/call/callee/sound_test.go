package callee_test

import (
	"math/rand/v2"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/base/need"
	"carillon/internal/voice/espeak"

	talk "carillon/internal/voice"
)

// voices are espeak-ng's, as people of one language sound different.
var voices = map[string][]string{ //nolint:gochecknoglobals // read only
	"en": {"en-us", "en-gb", "en-gb-scotland"}, "es": {"es", "es-419", "es"}, "pt": {"pt-br", "pt", "pt-br"},
}

// spoken returns the voice of espeak-ng; each call uses the next of a language's voices, at another speed.
func spoken(t *testing.T, random *rand.Rand) voice {
	t.Helper()
	s := espeak.New(nil)
	need.Program(t, "espeak-ng", "espeak-ng")
	return func(language, text string) (pcm []int16) {
		v := (&agent.Voice{Speed: 0.9 + 0.3*random.Float64()}).Settings()
		tags := voices[language]
		u := talk.Utterance{Voice: v, Language: tags[random.IntN(len(tags))], Text: text, Rate: rate}
		if err := s.Speak(t.Context(), u, func(p []int16) error {
			pcm = append(pcm, p...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return pcm
	}
}

func TestSpokenPeopleAreToldFromMachines(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	for _, q := range sets {
		random := rand.New(rand.NewPCG(7, 49))
		q.meets(t, spoken(t, random), random)
	}
}
