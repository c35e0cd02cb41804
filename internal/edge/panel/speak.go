package panel

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/audio"
	"carillon/internal/base/httpio"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/voice"
)

// listening lets an administrator hear how an agent sounds, which may have changes that are not stored.
type listening struct {
	*Panel
	share *share.Share
}

const (
	spokenMost   = 500
	speakTimeout = 20 * time.Second
	speakRate    = 16000
	speakLongest = 90 * speakRate // samples
)

func (x listening) routes() []httpio.Route {
	return []httpio.Route{{
		Pattern: "POST " + prefix + "/agents/{id}/speak", Access: "panel", Permission: string(auth.MayWriteResources), Handle: x.speak,
	}}
}

// speak responds with a text in the agent's voice.
func (x listening) speak(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MayWriteResources)
	if err != nil {
		return err
	}
	u, err := x.utterance(r, by)
	if err != nil {
		return err
	}
	place, err := x.share.Take(by.holder())
	if err != nil {
		return err
	}
	defer place.Release()
	pcm, err := x.sound(r.Context(), *u)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, err = w.Write(audio.WAV(pcm, speakRate))
	return err
}

// utterance reads what is to be spoken.
func (x listening) utterance(r *http.Request, by member) (*voice.Utterance, error) {
	a, err := x.agentOf(r, by)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "text", "language", "agent")
	if err != nil {
		return nil, err
	}
	if a, err = unsaved(o, a); err != nil {
		return nil, err
	}
	language, err := languageOf(o, a.Language)
	if err != nil {
		return nil, err
	}
	text, err := lines(o, "text", spokenMost)
	return &voice.Utterance{CompanyID: by.companyID, Voice: a.Voice.Settings(), Language: language, Text: text, Rate: speakRate}, err
}

// sound makes the sound, of a minute and a half at most. Errors: service_unavailable.
func (x listening) sound(ctx context.Context, u voice.Utterance) ([]int16, error) {
	speaker := x.Speakers[u.Voice.Speaker]
	if speaker == nil {
		return nil, unheard("Nothing here speaks with "+strconv.Quote(u.Voice.Speaker), nil)
	}
	ctx, cancel := context.WithTimeout(ctx, speakTimeout)
	defer cancel()
	var pcm []int16
	errLong := errors.New("the text takes too long to speak")
	err := speaker.Speak(ctx, u, func(piece []int16) error {
		if pcm = append(pcm, piece...); len(pcm) > speakLongest {
			return errLong
		}
		return nil
	})
	if err != nil {
		return nil, unheard(carillon.Shorten(err.Error()), err)
	}
	return pcm, nil
}

func unheard(reason string, cause error) error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The text could not be spoken", Details: carillon.Details{{Key: "reason", Value: reason}}, Err: cause,
	}
}

// languageOf reads an optional language.
func languageOf(o *jsonbody.Object, usual string) (string, error) {
	const field = "language"
	language, present, err := o.String(field, field)
	switch {
	case err != nil:
		return "", err
	case !present || language == "":
		return usual, nil
	case !resource.ValidLanguage(language):
		return "", carillon.Invalid(field, "Must be a language such as es or pt-BR")
	}
	return language, nil
}
