// Package deploy contains the files that install and monitor Carillon: the systemd unit, the container image and
// Prometheus alerts. Its Go code only tests those files against the program; deploy/release builds releases.
package deploy
