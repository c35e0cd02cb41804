// Package talk is the room of conversations with people: their turns and replies (conversation), what goes over messaging channels
// (messaging), flows (flow), files that people send (files), and the data of one person (person). Start reading in conversation.
package talk
