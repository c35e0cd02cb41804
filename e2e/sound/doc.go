// Package sound talks with the whole program aloud: visitors in the voice widget, callees on the telephone, a teammate on another node. The
// sound is as fast as people hear it, so its tests belong to `make test-sound`.
package sound
