package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"carillon/internal/base/need"
)

// newKey makes a key with OpenSSH's own tool.
func newKey(t *testing.T, kind, passphrase string) string {
	t.Helper()
	keygen := need.Program(t, "ssh-keygen", "openssh-client")
	file := filepath.Join(t.TempDir(), "key")
	out, err := exec.CommandContext(t.Context(), keygen, "-q", "-t", kind, "-N", passphrase, "-C", "releases", "-f", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// TestSignatureIsVerifiedByOpenSSH runs the command of the installation guide.
func TestSignatureIsVerifiedByOpenSSH(t *testing.T) {
	t.Parallel()
	file := newKey(t, "ed25519", "")
	key, err := signer(file)
	if err != nil {
		t.Fatal(err)
	}
	sums := []byte("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n")
	sig, err := signature(key, sums)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	public := "releases " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey()))) + "\n"
	for name, text := range map[string][]byte{signatureName: sig, "signers": []byte(public)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify := func(text []byte) error {
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "releases", "-n", "carillon-release",
			"-s", signatureName)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(text)
		return cmd.Run()
	}
	if err := verify(sums); err != nil {
		t.Errorf("the signature is refused: %v", err)
	}
	if verify(append(sums, 'x')) == nil {
		t.Error("the signature holds for another text")
	}
}

func TestSigningIsRefusedWithoutItsKey(t *testing.T) {
	t.Parallel()
	if _, err := signer(""); !errors.Is(err, errNoKey) {
		t.Errorf("without a key: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		broken: "not an OpenSSH private key", newKey(t, "ed25519", "locked"): "passphrase", newKey(t, "ecdsa", ""): "not an Ed25519 key",
		filepath.Join(t.TempDir(), "absent"): "read the signing key",
	} {
		if _, err := signer(file); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
