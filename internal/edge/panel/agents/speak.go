package agents

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/audio"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/voice"
)

// Listening lets an administrator hear how an agent sounds, which may have changes that are not stored.
type Listening struct {
	Gate     *member.Gate
	Store    *store.Store
	Speakers map[string]voice.Speaker // by agent.Voice.Speaker
	Share    *share.Share
}

const (
	spokenMost   = 500
	speakTimeout = 20 * time.Second
	speakRate    = 16000
	speakLongest = 90 * speakRate // samples
)

func (x Listening) Routes() []httpio.Route {
	return []httpio.Route{x.Gate.Raw("POST", "/agents/{id}/speak", auth.MayWriteResources, x.speak)}
}

// speak responds with a text in the agent's voice.
func (x Listening) speak(w http.ResponseWriter, r *http.Request, by member.Member) error {
	u, err := x.utterance(r, by)
	if err != nil {
		return err
	}
	place, err := x.Share.Take(by.Holder())
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
func (x Listening) utterance(r *http.Request, by member.Member) (*voice.Utterance, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	o, err := form.Object(r, "text", "language", "agent")
	if err != nil {
		return nil, err
	}
	if a, err = unsaved(o, a); err != nil {
		return nil, err
	}
	language, err := form.Language(o, a.Language)
	if err != nil {
		return nil, err
	}
	text, err := form.Lines(o, "text", spokenMost)
	return &voice.Utterance{CompanyID: by.CompanyID, Voice: a.Voice.Settings(), Language: language, Text: text, Rate: speakRate}, err
}

// sound makes the sound, of a minute and a half at most. Errors: service_unavailable.
func (x Listening) sound(ctx context.Context, u voice.Utterance) ([]int16, error) {
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
