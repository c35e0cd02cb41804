// Package convai implements the WebSocket of a spoken conversation: the messages between a browser and this program, in
// the protocol of ElevenLabs' agents, so that their clients work unchanged, and the voice.Line that carries the sound. It
// neither authorizes callers nor runs the conversation.
//
//	Accept ─▶ Initiation (the client's request) ─▶ Begin (the first message) ─▶ Serve (until either side ends) ─▶ Close
//
//	client ── user_audio_chunk ─▶ inbox ─▶ Line.Read          other messages ─▶ Client's callbacks
//	client ◀── one writer ◀── outbox ◀── Line.Write, Show
//
// A visitor's socket runs a voice.Session. A teammate's socket, in the panel, joins one and needs no Initiation.
package convai
