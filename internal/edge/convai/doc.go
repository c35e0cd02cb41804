// Package convai is the socket of a spoken conversation: the messages that a browser and this program exchange over a
// WebSocket, in the protocol of ElevenLabs' agents, so that their clients work unchanged, and the voice.Line that carries the
// sound over it. It knows neither who may open a socket nor what is said on it.
//
//	Accept ─▶ Initiation (what the client asks for) ─▶ Begin (the first message) ─▶ Serve (until either side ends) ─▶ Close
//
//	client ── user_audio_chunk ─▶ inbox ─▶ Line.Read          everything else ─▶ Client's functions
//	client ◀── one writer ◀── outbox ◀── Line.Write, Show
//
// A visitor's socket runs a voice.Session; a teammate's, in the panel, joins one. A teammate's needs no Initiation.
package convai
