package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"golang.org/x/crypto/ssh"
)

const (
	// keyEnv is the variable with the path of the signing key, if the flag is not set.
	keyEnv = "CARILLON_RELEASE_KEY_FILE"
	// signatureSpace separates signatures of releases from all others by the same key.
	signatureSpace = "carillon-release"
	signatureName  = sumsName + ".sig"
)

var errNoKey = errors.New("-sign needs a key: set -key or " + keyEnv +
	" to the file of an Ed25519 key without a passphrase (ssh-keygen -t ed25519 -N '' -C releases -f release-key)")

// signer reads the signing key, an OpenSSH private key.
func signer(file string) (ssh.Signer, error) {
	if file == "" {
		return nil, errNoKey
	}
	text, err := os.ReadFile(file) //nolint:gosec // named by the caller
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	key, err := ssh.ParseRawPrivateKey(text)
	if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked {
		return nil, errors.New("the signing key has a passphrase: " + errNoKey.Error())
	}
	if err != nil {
		return nil, errors.New("the signing key is not an OpenSSH private key") // the cause may quote it
	}
	pair, is := key.(*ed25519.PrivateKey)
	if !is {
		return nil, errors.New("the signing key is not an Ed25519 key")
	}
	return ssh.NewSignerFromSigner(pair)
}

// signature returns an SSH signature of a text, for `ssh-keygen -Y verify` (OpenSSH's PROTOCOL.sshsig).
func signature(key ssh.Signer, text []byte) ([]byte, error) {
	const magic, hash = "SSHSIG", "sha512"
	digest := sha512.Sum512(text)
	signed := ssh.Marshal(struct{ Space, Reserved, Hash, Digest string }{signatureSpace, "", hash, string(digest[:])})
	sig, err := key.Sign(rand.Reader, append([]byte(magic), signed...))
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	blob := append([]byte(magic), ssh.Marshal(struct {
		Version                                  uint32
		Public, Space, Reserved, Hash, Signature string
	}{1, string(key.PublicKey().Marshal()), signatureSpace, "", hash, string(ssh.Marshal(sig))})...)
	var b bytes.Buffer
	b.WriteString("-----BEGIN SSH SIGNATURE-----\n")
	const width = 70
	for code := base64.StdEncoding.EncodeToString(blob); code != ""; {
		n := min(width, len(code))
		b.WriteString(code[:n] + "\n")
		code = code[n:]
	}
	b.WriteString("-----END SSH SIGNATURE-----\n")
	return b.Bytes(), nil
}
