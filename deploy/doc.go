// Package deploy holds what installs and runs Carillon: the systemd unit, the container's recipe, what watches it. Here
// are only the tests that hold those files to the program; the release is made by deploy/release.
package deploy
