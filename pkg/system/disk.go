package system

// Disk is how much room there is on a disk, in bytes.
type Disk struct {
	All  int64
	Used int64
	Free int64 // that an ordinary user may write
}

// Fraction is how full the disk is, from 0 to 1, as an ordinary user sees it.
func (d Disk) Fraction() float64 {
	if d.Used+d.Free == 0 {
		return 0
	}
	return float64(d.Used) / float64(d.Used+d.Free)
}
