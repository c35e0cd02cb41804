package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/widget"
	"carillon/internal/store"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// Playground lets an administrator chat with an agent, including unsaved changes. No conversation is stored.
type Playground struct {
	Gate    *member.Gate
	Store   *store.Store
	Thinker agent.Thinker
	Toolbox agent.Toolbox
	Unbuilt func(resource.Resource) string
	Plays   *share.Share
}

const (
	maxSaid     = 50 // turns
	playTimeout = 45 * time.Second
)

func (x Playground) Routes() []httpio.Route {
	return []httpio.Route{member.Route(x.Gate, "POST", "/agents/{id}/playground", auth.MayWriteResources, x.play).Taking(playRequest{})}
}

// playResponse is the agent's response.
type playResponse struct {
	Text       string         `json:"text"`
	Sources    []playedSource `json:"sources"`
	Choices    []string       `json:"choices"`
	Asks       string         `json:"asks,omitempty"`    // question to the contact; the page sends it back as asked
	Handoff    string         `json:"handoff,omitempty"` // reason for handing over to a teammate
	End        bool           `json:"end"`
	Unanswered bool           `json:"unanswered"`
	Outcome    agent.Outcome  `json:"outcome,omitempty"` // empty if nothing was asked
	MS         int64          `json:"ms"`
	Fault      string         `json:"fault,omitempty"` // why the agent's engine did not respond
	Tools      []agent.Use    `json:"tools,omitempty"` // calls of tools at servers
	// Memory is kept by the page, which sends it back with the next message.
	Memory *agent.Memory `json:"memory,omitempty"`
}

type playedSource struct {
	Title      string  `json:"title"`
	URL        string  `json:"url"`
	Knowledge  string  `json:"knowledge,omitempty"`
	Passage    string  `json:"passage,omitempty"`
	Confidence float64 `json:"confidence"` // probability that the passage answers the question
}

// saidTurn is a turn of the conversation so far.
type saidTurn struct {
	Contact bool   `json:"contact,omitempty"`
	Text    string `json:"text"`
}

// playRequest continues a conversation with a possibly unsaved agent.
type playRequest struct {
	Said     []saidTurn      `json:"said"`
	Asked    string          `json:"asked,omitempty"`
	Language string          `json:"language,omitempty"`
	Agent    json.RawMessage `json:"agent,omitempty"`
	Memory   json.RawMessage `json:"memory,omitempty"`
}

func (x Playground) play(r *http.Request, by member.Member) (*playResponse, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	o, err := form.Body[playRequest](r)
	if err != nil {
		return nil, err
	}
	if a, err = unsaved(o, a); err != nil {
		return nil, err
	}
	company, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return nil, err
	}
	request := &agent.Request{CompanyID: by.CompanyID, CompanyName: company.Name, Agent: a, Toolbox: x.Toolbox}
	if request.Memory, err = memory(o); err != nil {
		return nil, err
	}
	if request.Said, err = said(o); err != nil {
		return nil, err
	}
	if request.Asked, _, err = o.String("asked", "asked"); err != nil {
		return nil, err
	}
	if request.Language, err = form.Language(o, a.Language); err != nil {
		return nil, err
	}
	return x.reply(r.Context(), by, request)
}

// unsaved returns the agent in the body, or else the stored one.
func unsaved(o *jsonbody.Object, stored *agent.Agent) (*agent.Agent, error) {
	given, present, err := o.Find("agent").Object("agent")
	if err != nil || !present {
		return stored, err
	}
	if err := form.SameID(given, stored.ID); err != nil {
		return nil, err
	}
	x, err := config.ResourceOf(given, agent.Kind())
	if err != nil {
		return nil, err
	}
	a, _ := x.(*agent.Agent)
	a.ID = stored.ID
	resource.KeepSecrets(a, stored)
	return a, nil
}

// said reads the conversation so far, which must end with a turn of the contact.
func said(o *jsonbody.Object) (all []agent.Said, err error) {
	turns, present, err := o.Array("said", "said")
	switch {
	case err != nil:
		return nil, err
	case !present || len(turns) == 0:
		return nil, carillon.Missing("said")
	case len(turns) > maxSaid:
		return nil, carillon.Invalid("said", "At most "+strconv.Itoa(maxSaid)+" turns")
	}
	for i, turn := range turns {
		at := resource.Index("said", i)
		one, present, err := turn.Object(at)
		if err != nil {
			return nil, err
		}
		if !present {
			return nil, carillon.Missing(at)
		}
		text, err := one.Find("text").Required(at + ".text")
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(text) > conversation.MaxText {
			return nil, carillon.Invalid(at+".text", "At most "+strconv.Itoa(conversation.MaxText)+" characters")
		}
		contact, _, err := one.Bool(at+".contact", "contact")
		if err != nil {
			return nil, err
		}
		all = append(all, agent.Said{Contact: contact, Text: text})
	}
	if !all[len(all)-1].Contact {
		return nil, carillon.Invalid("said", "Must end with what the contact said")
	}
	return all, nil
}

func (x Playground) reply(ctx context.Context, by member.Member, request *agent.Request) (*playResponse, error) {
	place, err := x.Plays.Take(by.Holder())
	if err != nil {
		return nil, err
	}
	defer place.Release()
	ctx, cancel := context.WithTimeout(ctx, playTimeout)
	defer cancel()
	begin := time.Now()
	p := &playResponse{Fault: x.Unbuilt(request.Agent), Memory: kept(request.Memory), Sources: []playedSource{}, Choices: []string{}}
	var text strings.Builder
	err = x.Thinker.Reply(ctx, request, func(a agent.Action) error {
		text.WriteString(a.Say)
		for _, source := range a.Sources {
			p.Sources = append(p.Sources, playedSource(source))
		}
		p.Choices = append(p.Choices, a.Choices...)
		p.Asks = cmp.Or(a.Asks, p.Asks)
		if a.Handoff != "" {
			p.Handoff = a.Handoff
		}
		p.Fault = cmp.Or(a.Failure, p.Fault)
		p.Outcome = cmp.Or(a.Outcome, p.Outcome)
		if a.Memory != nil {
			p.Memory = kept(*a.Memory)
		}
		if a.Used != nil && len(p.Tools) < maxTools {
			p.Tools = append(p.Tools, *a.Used)
		}
		p.End, p.Unanswered = p.End || a.End, p.Outcome == agent.Unanswered
		return nil
	})
	p.Text, p.MS = strings.TrimSpace(text.String()), time.Since(begin).Milliseconds()
	return p, err
}

// kept returns a memory for the page, or nil if it is empty.
func kept(m agent.Memory) *agent.Memory {
	if m.Text() == "" {
		return nil
	}
	return &m
}

// agentOf returns the agent named in the path. Errors: not_found.
func agentOf(r *http.Request, s *store.Store, by member.Member) (*agent.Agent, error) {
	id, err := form.ID(r, agent.Kind().Title())
	if err != nil {
		return nil, err
	}
	stored, err := s.Resources.Resource(r.Context(), by.CompanyID, agent.Kind(), id)
	if err != nil {
		return nil, err
	}
	a, _ := stored.(*agent.Agent)
	return a, nil
}

// Listening lets an administrator hear an agent's voice, including unsaved changes.
type Listening struct {
	Gate     *member.Gate
	Store    *store.Store
	Speakers map[string]voice.Speaker // by agent.Voice.Speaker
	Share    *share.Share
}

const (
	maxSpoken    = 500
	speakTimeout = 20 * time.Second
	speakRate    = 16000
	maxSpeech    = 90 * speakRate // samples
)

func (x Listening) Routes() []httpio.Route {
	return []httpio.Route{x.Gate.Raw("POST", "/agents/{id}/speak", auth.MayWriteResources, x.speak).Taking(speakRequest{})}
}

// speak responds with a text spoken in the agent's voice.
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
	_, err = w.Write(audio.WAV(pcm, speakRate)) //nolint:gosec // sound, not HTML
	return err
}

// speakRequest asks for speech.
type speakRequest struct {
	Text     string          `json:"text"`
	Language string          `json:"language,omitempty"`
	Agent    json.RawMessage `json:"agent,omitempty"`
}

// utterance reads the text to speak.
func (x Listening) utterance(r *http.Request, by member.Member) (*voice.Utterance, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	o, err := form.Body[speakRequest](r)
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
	text, err := form.Lines(o, "text", maxSpoken)
	return &voice.Utterance{CompanyID: by.CompanyID, Voice: a.Voice.Settings(), Language: language, Text: text, Rate: speakRate}, err
}

// sound generates the audio, of at most 90 seconds. Errors: service_unavailable.
func (x Listening) sound(ctx context.Context, u voice.Utterance) ([]int16, error) {
	speaker := x.Speakers[u.Voice.Speaker]
	if speaker == nil {
		return nil, speechError("Nothing here speaks with "+strconv.Quote(u.Voice.Speaker), nil)
	}
	ctx, cancel := context.WithTimeout(ctx, speakTimeout)
	defer cancel()
	var pcm []int16
	errLong := errors.New("the text takes too long to speak")
	err := speaker.Speak(ctx, u, func(piece []int16) error {
		if pcm = append(pcm, piece...); len(pcm) > maxSpeech {
			return errLong
		}
		return nil
	})
	if err != nil {
		return nil, speechError(carillon.Shorten(err.Error()), err)
	}
	return pcm, nil
}

func speechError(reason string, cause error) error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The text could not be spoken",
		Details: carillon.Details{{Key: "reason", Value: reason}}, Err: cause,
	}
}

// Trials opens conversations of teammates with agents.
type Trials interface {
	TalkTo(ctx context.Context, by widget.Teammate, agentID, language string) (*widget.Signed, error)
}

// Trying lets an administrator talk with a stored agent by voice.
type Trying struct {
	Gate          *member.Gate
	Store         *store.Store
	Trials        Trials
	Conversations *conversation.Conversations
}

// talkRequest asks for a test talk.
type talkRequest struct {
	Language string `json:"language,omitempty"`
}

// talkTo responds with the address of a socket on which the caller talks with an agent like a visitor.
func (x Trying) talkTo(r *http.Request, by member.Member) (*widget.Signed, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	if a.Engine == "elevenlabs" {
		return nil, carillon.InConflict("The agent talks elsewhere")
	}
	o, err := form.Body[talkRequest](r)
	if err != nil {
		return nil, err
	}
	language, err := form.Language(o, a.Language)
	if err != nil {
		return nil, err
	}
	teammate := widget.Teammate{CompanyID: by.CompanyID, AccountID: by.AccountID, Name: by.Name, Origin: r.Header.Get("Origin")}
	signed, err := x.Trials.TalkTo(r.Context(), teammate, a.ID, language)
	if err != nil {
		return nil, err
	}
	_, err = x.Conversations.Desk.Tag(r.Context(), by.CompanyID, signed.ConversationID, []string{testTag})
	return signed, err
}

// testTag marks the conversations in which a teammate tries an agent.
const testTag = "test"

func (x Trying) Routes() []httpio.Route {
	return []httpio.Route{member.Route(x.Gate, "POST", "/agents/{id}/talk", auth.MayWriteResources, x.talkTo).Taking(talkRequest{})}
}
