package convai

import (
	"encoding/json"
	"strconv"

	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// object is a JSON object of a message. Its values are strings, numbers, booleans, lists and objects of those.
type object = map[string]any

// newMessage returns a message with a type and one member.
func newMessage(kind, member string, value object) message {
	text, _ := json.Marshal(object{"type": kind, member: value}) // cannot fail
	return message{data: text}
}

// metadata returns the first message to a client. binary means that sound is sent in binary frames.
func metadata(conversationID, by string, binary bool) message {
	e := object{"conversation_id": conversationID, "agent_output_audio_format": Format, "user_input_audio_format": Format}
	if by != "" {
		e["hearing"] = by
	}
	if binary {
		e["audio"] = audioBinary
	}
	return newMessage("conversation_initiation_metadata", "conversation_initiation_metadata_event", e)
}

// Codes and types of error messages, as ElevenLabs names them.
const (
	codePolicy   = 1008
	codeInternal = 1011

	typeInvalid  = "invalid_message"
	typeValue    = "value_error"
	typeOverride = "override_error"
	typeTooLong  = "max_duration_exceeded"
	typeUnknown  = "unknown"
)

// failure returns an error message. reason is one of our machine-readable codes.
func failure(code int, kind, text, reason string) message {
	e := object{"code": code, "error_type": kind, "message": text}
	if reason != "" {
		e["reason"] = reason
	}
	return newMessage("error", "error_event", e)
}

func part(kind, text string, response int64) message {
	return newMessage("agent_chat_response_part", "text_response_part", object{"text": text, "type": kind, "event_id": response})
}

// writer turns events into messages.
type writer struct {
	parts int64 // the response whose parts are being sent; 0 if none
}

// messages returns the client messages for an event. voice.Ended has none: closing the connection signals it.
func (w *writer) messages(e *voice.Event) []message {
	switch e.Kind {
	case voice.Transcribed:
		return []message{newMessage("user_transcript", "user_transcription_event",
			object{"user_transcript": e.Text, "event_id": e.ID, "seq": e.Seq})}
	case voice.Tentative:
		return []message{newMessage("tentative_user_transcript", "tentative_user_transcription_event",
			object{"user_transcript": e.Text, "event_id": e.ID})}
	case voice.Responding:
		w.parts = e.ID
		return []message{part("start", "", e.ID)}
	case voice.Piece:
		if w.parts != e.ID {
			return nil // the response was interrupted
		}
		return []message{part("delta", e.Text, e.ID)}
	case voice.Responded:
		return w.responded(e)
	case voice.Corrected:
		return []message{newMessage("agent_response_correction", "agent_response_correction_event", object{
			"original_agent_response": e.Original, "corrected_agent_response": e.Text, "event_id": e.ID,
		})}
	case voice.Interrupted:
		return append(w.stop(e.ID), newMessage("interruption", "interruption_event", object{"event_id": e.ID}))
	case voice.Score:
		return []message{newMessage("vad_score", "vad_score_event", object{"vad_score": e.Value})}
	case voice.Moved:
		state := object{"state": e.State}
		if e.State == chats.Queued && e.Position > 0 {
			state["position"] = e.Position
		}
		return []message{newMessage("conversation_state", "conversation_state_event", state)}
	case voice.Connected:
		return []message{newMessage("external_agent_connected", "external_agent_connected_event", object{"name": e.Name})}
	case voice.Gone:
		return []message{newMessage("external_agent_disconnected", "external_agent_disconnected_event", object{"name": e.Name})}
	case voice.Said:
		return []message{newMessage("turn", "turn_event", object{"seq": e.Seq, "author": e.Author, "name": e.Name, "text": e.Text})}
	case voice.Failure:
		return []message{failure(codeInternal, typeUnknown, e.Text, e.Code)}
	case voice.ToolCall, voice.ToolUsed:
		return tool(e)
	case voice.Sounding, voice.Ended, voice.Noted:
	}
	return nil
}

// stop ends the parts of a response if they were started.
func (w *writer) stop(response int64) []message {
	if w.parts == 0 || w.parts != response {
		return nil
	}
	w.parts = 0
	return []message{part("stop", "", response)}
}

func (w *writer) responded(e *voice.Event) []message {
	all := append(w.stop(e.ID), newMessage("agent_response", "agent_response_event",
		object{"agent_response": e.Text, "event_id": e.ID, "seq": e.Seq}))
	rich := func(component string, props object) message {
		return newMessage("rich_content", "rich_content", object{
			"rich_content_id": component + "-" + strconv.FormatInt(e.ID, 10), "component": component, "props": props, "event_id": e.ID,
		})
	}
	if len(e.Sources) > 0 {
		all = append(all, rich("sources", object{"sources": e.Sources}))
	}
	if len(e.Choices) > 0 {
		all = append(all, rich("choices", object{"choices": e.Choices}))
	}
	return all
}

// tool returns the call of a page's tool, or the report that the agent used one of its own tools.
func tool(e *voice.Event) []message {
	if e.Tool == nil {
		return nil
	}
	x := object{"tool_name": e.Tool.Name, "tool_call_id": e.Tool.ID, "event_id": e.ID}
	if e.Kind == voice.ToolUsed {
		x["tool_type"], x["is_error"], x["is_called"] = "system", e.Tool.Failed, true
		return []message{newMessage("agent_tool_response", "agent_tool_response", x)}
	}
	x["parameters"] = object{}
	if parameters := json.RawMessage(e.Tool.Parameters); json.Valid(parameters) {
		x["parameters"] = parameters
	}
	return []message{newMessage("client_tool_call", "client_tool_call", x)}
}
