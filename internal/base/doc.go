// Package base holds small packages that depend on none of the other parts: settings, HTTP, JSON, numbers, time,
// audio. Each has its own package comment.
package base
