// Package sound tests spoken conversations with the whole program: visitors in the voice widget, callees on the
// telephone, a teammate on another node. Sound is played in real time, so the tests belong to `make test-sound`.
package sound
