// Package talk contains the packages for conversations with people: turns and replies (conversation), messaging
// channels (messaging), flows (flow), files that people send (files), and the data of one person (person). Start
// reading in conversation.
package talk
