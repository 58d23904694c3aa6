//go:build !linux

package spool

import "errors"

// spread is of use to ext4.
func spread(string) error { return errors.ErrUnsupported }
