package cluster_test

// faultVariable makes the test binary a program of a node that is broken in the way it names.
const faultVariable = "WHIRLPOOL_E2E_FAULT"

func runBroken(fault string, args []string) int { return 1 }
