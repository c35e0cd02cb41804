package espeak

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"carillon/internal/voice"
)

// catalogue is the list of the voices of espeak-ng, read on first use.
type catalogue struct {
	list func(ctx context.Context) (string, error)

	mu     sync.Mutex
	voices map[string]bool // lower case; nil means not read yet
}

// named matches the voice names that an agent may have: a language with an optional variant such as +f3. Paths do not
// match.
var named = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]{0,40})(\+[A-Za-z0-9_-]{1,30})?$`)

// regions maps languages and countries without their own voice to another voice.
var regions = map[string]string{ //nolint:gochecknoglobals // read only
	"en": "en-us", "en-au": "en-gb", "en-ie": "en-gb", "en-in": "en-gb", "en-nz": "en-gb", "en-za": "en-gb",
	"es": "es-419", "es-es": "es", "pt": "pt-br", "pt-pt": "pt", "pt-ao": "pt", "pt-mz": "pt",
	"fr": "fr-fr", "no": "nb", "zh": "cmn", "zh-hk": "yue", "zh-mo": "yue",
}

// of returns the voice of a language (BCP 47), or the wanted voice if it exists.
func (c *catalogue) of(ctx context.Context, language, wanted string) (string, error) {
	voices, err := c.read(ctx)
	if err != nil {
		return "", err
	}
	if m := named.FindStringSubmatch(wanted); m != nil && voices[strings.ToLower(m[1])] {
		return wanted, nil
	}
	tag := strings.ToLower(language)
	for at := tag; ; {
		first, second := at, regions[at]
		if at != tag && second != "" { // a country without its own voice gets the usual voice of the other countries
			first, second = second, first
		}
		switch cut := strings.LastIndexByte(at, '-'); {
		case voices[first]:
			return first, nil
		case voices[second]:
			return second, nil
		case cut < 0:
			return "", errLanguage
		default:
			at = at[:cut]
		}
	}
}

func (c *catalogue) read(ctx context.Context) (map[string]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.voices != nil {
		return c.voices, nil
	}
	text, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	voices := map[string]bool{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= 5 && fields[0] != "Pty" {
			voices[strings.ToLower(fields[1])] = true
		}
	}
	if len(voices) == 0 {
		return nil, fmt.Errorf("%w: it lists no voices", errNoSound)
	}
	c.voices = voices
	return voices, nil
}

// list runs the program to list its voices.
func (s *Speaker) list(ctx context.Context) (string, error) {
	out, err := voice.Program(ctx, s.program, "--voices").Output()
	if err != nil {
		return "", started(err)
	}
	return string(out), nil
}
