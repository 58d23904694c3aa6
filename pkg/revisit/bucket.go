package revisit

import "time"

// BucketSpan is the part of time within which the order of due pages does not matter: around the best interval, the
// value of a visit is flat (a tenth of the interval more or less costs less than half a hundredth of a page's
// freshness).
const BucketSpan = 10 * time.Minute

// bucketEpoch is where buckets begin to count, in seconds since 1970: the start of 2020, in UTC.
const bucketEpoch = 1_577_836_800

// Bucket is the number of the [BucketSpan] that a time lies in, counted from 2020; times before are in the first one,
// times after the year 83000 in the last. Its order is that of time.
func Bucket(t time.Time) uint32 {
	n := (t.Unix() - bucketEpoch) / int64(BucketSpan/time.Second)
	return uint32(min(max(n, 0), 1<<32-1))
}

// BucketStart is the first instant of a bucket.
func BucketStart(b uint32) time.Time {
	return time.Unix(bucketEpoch+int64(b)*int64(BucketSpan/time.Second), 0).UTC()
}
