package cloudformation_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// commands are the lines of the blocks of docs/aws.md that need no account.
func commands(t *testing.T) (run []string, marked int) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n").FindAllStringSubmatch(read(t, "../docs/aws.md"),
		-1) {
		for _, line := range strings.Split(block[1], "\n") {
			command, comment, _ := strings.Cut(line, " # ")
			switch comment = strings.TrimSpace(comment); {
			case comment == "account" || comment == "docker":
				marked++
			case !strings.HasPrefix(command, "make ") && !strings.HasPrefix(command, "aws "):
				t.Errorf("this line is neither run nor marked: %s", line)
			default:
				run = append(run, strings.TrimSpace(command))
			}
		}
	}
	return run, marked
}

// shell runs commands of the docs as somebody would, in the repository, with the real aws command pointed at the fake.
type shell struct {
	t    *testing.T
	home string
	env  []string
}

func newShell(t *testing.T, url string) *shell {
	t.Helper()
	aws := tool(t, "aws", "awscli")
	tool(t, "make", "make")
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	script := func(name, body string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	// older versions take the address from no variable; the command gets the path and home that it was installed with
	script("aws", fmt.Sprintf(`HOME=%s PATH=%s exec %s --endpoint-url %s "$@"`, os.Getenv("HOME"), os.Getenv("PATH"), aws,
		url))
	// stand-ins of what the docs call besides: an engine whose images are a few bytes, and an ssh that says what it was
	// asked
	script("docker", `case "$1" in save) shift; echo "images: $*";; esac`)
	script("ssh", `echo "ssh $*"`)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return regexp.MustCompile(`^(AWS_|MAKE|MFLAGS|HOME=|PATH=|CLUSTER=|REGION=|BUCKET=|RELEASE=)`).MatchString(v)
	})
	return &shell{t, home, append(env, "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "REGION="+fakeaws.Region,
		"AWS_DEFAULT_REGION="+fakeaws.Region, "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_MAX_ATTEMPTS=1", "AWS_PAGER=", "BIN="+filepath.Join(home, "out"), "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null")}
}

// run runs a command line under an access key.
func (s *shell) run(key, line string) (string, error) {
	// The limit is for a command that hangs: a busy machine takes minutes for a few calls of aws.
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-ec", line)
	cmd.Dir, cmd.WaitDelay = "..", 5*time.Second
	cmd.Env = append(slices.Clone(s.env), "AWS_ACCESS_KEY_ID="+key)
	// one asks who it is; twenty would take half a minute
	if strings.HasPrefix(line, "make ") && !strings.HasPrefix(line, "make aws-bucket") {
		cmd.Env = append(cmd.Env, "ACCOUNT="+fakeaws.Account)
	}
	if strings.HasPrefix(line, "make ") { // BIN is set in the Makefile
		cmd.Args[2] = line + " BIN=" + filepath.Join(s.home, "out")
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// keyFor tells who runs a line: what the docs leave to an administrator, and the rest.
func keyFor(line string) string {
	if strings.HasPrefix(line, "make aws-policies") || strings.HasPrefix(line, "make aws-grant") ||
		strings.HasPrefix(line, "aws iam ") {
		return fakeaws.AdminKey
	}
	return fakeaws.OperatorKey
}

func TestTheCommandsOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the aws command fifty times")
	}
	t.Parallel()
	fake, err := fakeaws.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	s := newShell(t, fake.URL)
	lines, marked := commands(t)
	if len(lines) < 20 || marked < 5 {
		t.Fatalf("found %d commands and %d that need an account", len(lines), marked)
	}
	want := map[string]string{ // what must be in the output
		"make aws-create":   "CREATE_COMPLETE",
		"make aws-change":   "Nodes",
		"make aws-apply":    "UPDATE_COMPLETE",
		"make aws-update":   "UPDATE_COMPLETE",
		"make aws-status":   "BastionAddress",
		"make aws-validate": "whirlpool.yml: valid",
		"make tunnel":       "-L 127.0.0.1:8711:10.0.0.",
		"make ssh-config":   "Host whirlpool-crawler-3",
		"make aws-cost":     "total",
		"make aws-delete":   "deleted",
		"aws secretsman":    "password",
		"aws ec2 create-sn": "snap-",
		"aws rds create-db": "creating",
	}
	met := map[string]bool{}
	crawlers, stood := 0, false
	for _, line := range lines {
		out, err := s.run(keyFor(line), line)
		if err != nil {
			t.Fatalf("$ %s\n%s\n%v", line, out, err)
		}
		for prefix, text := range want {
			if strings.HasPrefix(line, prefix) {
				met[prefix] = true
				if !strings.Contains(out, text) {
					t.Errorf("$ %s\n%s\nhas no %q", line, out, text)
				}
			}
		}
		if strings.HasPrefix(line, "make aws-delete") && crawlers != 5 {
			t.Errorf("%d crawlers before the deletion, want 5", crawlers)
		}
		stood = stood || len(fake.Objects("AWS::ElasticLoadBalancingV2::Listener")) == 1
		crawlers = 0
		for _, o := range fake.Objects("AWS::EC2::Instance") {
			if o.Logical == "Nodes" {
				crawlers++
			}
		}
	}
	if !stood {
		t.Error("the studio never had a load balancer")
	}
	for prefix := range want {
		if !met[prefix] {
			t.Errorf("no line of the docs begins with %q", prefix)
		}
	}
	var left []string
	for _, o := range fake.Objects("") {
		left = append(left, o.Type+" "+o.Logical)
	}
	if got := sorted(left); got != "AWS::S3::Bucket Archive\nsnapshot Database\nsnapshot PagesVolume" {
		t.Errorf("left over: %s", got)
	}
}

// The tunnel asks for nothing that the bastion may not reach.
func TestTunnelsAndTableAgree(t *testing.T) {
	text := read(t, "../deploy/aws/stack")
	table := reachable(t)
	for _, port := range []string{"8711", "15672", "3000", "5432", "27017", "2181"} {
		if !strings.Contains(text, ":"+port) || !regexp.MustCompile(`(?m)^bastion \|.*\b`+port+`\b`).MatchString(table) {
			t.Errorf("port %s", port)
		}
	}
}

func TestCosts(t *testing.T) {
	var columns [2][][2]string
	for i, args := range [][]string{nil, {"Size=t2.micro", "CrawlerDisk=8"}} {
		out, err := exec.CommandContext(t.Context(), "../deploy/aws/cost", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v", out, err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n")[1:] {
			columns[i] = append(columns[i], [2]string{strings.TrimSpace(line[:36]), strings.TrimSpace(line[45:])})
		}
	}
	var rows []string
	for i, row := range columns[0] {
		name := row[0]
		if other := columns[1][i][0]; other != name && !strings.Contains(name, ",") {
			name += " / " + other[strings.LastIndex(other, " ")+1:]
		}
		rows = append(rows, "| "+name+" | "+row[1]+" | "+columns[1][i][1]+" |")
	}
	if table := strings.Join(rows, "\n"); !strings.Contains(read(t, "../docs/aws.md"), "|---|---|---|\n"+table+"\n") {
		t.Errorf("docs/aws.md should say\n%s", table)
	}
}
