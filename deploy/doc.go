// Package deploy contains the files that install and monitor Carillon: the systemd unit, the container image, proxies,
// PostgreSQL with Patroni, PgBouncer, Prometheus with its alerts, and journald. Its Go code only tests those files, against the
// program and against the programs that read them; deploy/release builds releases.
package deploy
