package cloudformation_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/fakeaws"
)

// spread has parameters of a cluster whose ledger is on n servers of its own, too.
func spread(n int, more map[string]string) map[string]string {
	p := map[string]string{"LedgerServers": strconv.Itoa(n)}
	maps.Copy(p, more)
	return p
}

// ledgerOf are the servers of the ledger, in the order of their numbers.
func ledgerOf(a *account) []*fakeaws.Object {
	var out []*fakeaws.Object
	for _, o := range a.Objects("AWS::RDS::DBInstance") {
		if strings.HasPrefix(o.Logical, "Ledger") {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(x, y *fakeaws.Object) int { return strings.Compare(x.Logical, y.Logical) })
	return out
}

// told are the lists of servers that crawlers are told, each once, and how many crawlers there are.
func told(t *testing.T, a *account) (lists []string, crawlers int) {
	t.Helper()
	for _, o := range a.Objects("AWS::EC2::Instance") {
		if o.Logical != "Nodes" {
			continue
		}
		crawlers++
		text, err := base64.StdEncoding.DecodeString(fmt.Sprint(o.Props["UserData"]))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`LEDGER='([^']*)'`).FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("the user data of %s name no LEDGER", o.ID)
		}
		lists = append(lists, found[1])
	}
	slices.Sort(lists)
	return slices.Compact(lists), crawlers
}

// wrongList says what is wrong with what crawlers are told of the ledger: all the same, every server, by number.
func wrongList(t *testing.T, a *account) string {
	t.Helper()
	var want []string
	for i, o := range ledgerOf(a) {
		if o.Logical != "Ledger"+strconv.Itoa(i+1) {
			return fmt.Sprintf("server %d is %s", i+1, o.Logical)
		}
		want = append(want, fmt.Sprint(o.Attrs["Endpoint.Address"]))
	}
	lists, crawlers := told(t, a)
	if len(lists) != 1 || crawlers == 0 || lists[0] != strings.Join(want, ",") {
		return fmt.Sprintf("%d crawlers are told %q, want %q", crawlers, lists, want)
	}
	return ""
}

// alarmed counts the alarms of a database, and those of all databases together.
func alarmed(a *account, id string) (its, all int) {
	for _, o := range a.Objects("AWS::CloudWatch::Alarm") {
		if o.Props["Namespace"] == "AWS/RDS" {
			if all++; strings.Contains(fmt.Sprint(o.Props["Dimensions"]), id) {
				its++
			}
		}
	}
	return its, all
}

func TestALedgerOnServersOfItsOwn(t *testing.T) {
	for n := range 5 {
		for _, backward := range []bool{false, true} {
			t.Run(fmt.Sprint(n, backward), func(t *testing.T) {
				t.Parallel()
				a := open(t, nil)
				if backward {
					a.Backward()
				}
				if status, failures := a.create(spread(n, nil)); status != "CREATE_COMPLETE" {
					t.Fatalf("%s\n%s", status, failures)
				}
				servers := ledgerOf(a)
				if len(servers) != n || len(a.Objects("AWS::RDS::DBInstance")) != n+1 {
					t.Fatalf("%d servers of the ledger, want %d", len(servers), n)
				}
				if wrong := wrongList(t, a); wrong != "" {
					t.Error(wrong)
				}
				alikeDatabases(t, a)
				for _, o := range a.Objects("AWS::RDS::DBInstance") {
					if its, all := alarmed(a, o.ID); its != 3 || all != 3*(n+1) {
						t.Errorf("%s has %d alarms, want 3, and all databases %d", o.Logical, its, all)
					}
				}
				changesAndGoes(t, a, n)
			})
		}
	}
}

// alikeDatabases: a server of the ledger is what the main one is, but for what it is called and belongs to, and its
// size. All have connections for as many nodes.
func alikeDatabases(t *testing.T, a *account) {
	t.Helper()
	own := []string{"DBName", "Tags", "DBParameterGroupName", "DBSubnetGroupName", "AllocatedStorage"}
	var main map[string]any
	for _, o := range a.Objects("AWS::RDS::DBInstance") {
		if o.Logical == "Database" {
			main = o.Props
		}
	}
	servers := ledgerOf(a)
	for _, o := range servers {
		for k := range main {
			if !slices.Contains(own, k) && !reflect.DeepEqual(o.Props[k], main[k]) {
				t.Errorf("%s: %s is %v, and the main server's %v", o.Logical, k, o.Props[k], main[k])
			}
		}
		if len(o.Props) != len(main) {
			t.Errorf("%s has %d properties, the main server %d", o.Logical, len(o.Props), len(main))
		}
	}
	want := "300"
	if len(servers) > 0 {
		want = "600"
	}
	for _, o := range a.Objects("AWS::RDS::DBParameterGroup") {
		p, _ := o.Props["Parameters"].(map[string]any)
		if used := o.Logical != "Settings" || len(servers) > 0; used && p["max_connections"] != want ||
			p["rds.force_ssl"] != "1" {
			t.Errorf("parameters of %s: %v, want %s connections", o.ID, p, want)
		}
	}
}

// changesAndGoes changes other things, which no database is made anew for, and deletes the cluster, which leaves a
// snapshot of each.
func changesAndGoes(t *testing.T, a *account, n int) {
	t.Helper()
	databases, crawlers := ids(a, "AWS::RDS::DBInstance"), crawlersOf(a)
	a.must("cloudformation", "UpdateStack", parameters(spread(n, map[string]string{"Crawlers": "4", "LedgerStorage": "50",
		"DatabaseStorage": "40", "DatabaseType": "db.m7g.large"}))...)
	if status, failures := a.settled(); status != "UPDATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	if got := ids(a, "AWS::RDS::DBInstance"); !slices.Equal(got, databases) || kept(crawlers, crawlersOf(a)) != 3 {
		t.Errorf("databases were %v, and are %v; %d crawlers stayed", databases, got, kept(crawlers, crawlersOf(a)))
	}
	for _, o := range ledgerOf(a) {
		if o.Props["AllocatedStorage"] != "50" || o.Props["DBInstanceClass"] != "db.m7g.large" {
			t.Errorf("%s: %v GiB, %v", o.Logical, o.Props["AllocatedStorage"], o.Props["DBInstanceClass"])
		}
	}
	if wrong := wrongList(t, a); wrong != "" {
		t.Error(wrong)
	}
	a.must("cloudformation", "DeleteStack", "StackName", cluster)
	if status, failures := a.settled(); !strings.Contains(status, "does not exist") {
		t.Fatalf("after the deletion: %s\n%s", status, failures)
	}
	want := []string{"AWS::S3::Bucket Archive", "key ", "snapshot Database", "snapshot PagesVolume"}
	for i := range n {
		want = append(want, "snapshot Ledger"+strconv.Itoa(i+1))
	}
	var left []string
	for _, o := range a.Objects("") {
		left = append(left, o.Type+" "+o.Logical)
	}
	if sorted(left) != sorted(want) {
		t.Errorf("left over:\n%s\nwant:\n%s", sorted(left), sorted(want))
	}
}

// The service role suffices for the servers of the ledger, and they are missed where it lacks them.
func TestTheServiceRoleMayMakeALedger(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"CREATE_COMPLETE", "ROLLBACK_COMPLETE"} {
		a := open(t, nil, edit{"service-role.json", "db:@CLUSTER@-*", "db:@CLUSTER@-stores-*"})
		status, failures := a.create(spread(n, nil))
		if status != want || n > 0 && !strings.Contains(failures, "rds:CreateDBInstance") {
			t.Errorf("%d servers: %s, want %s\n%s", n, status, want, failures)
		}
	}
}

// Each of these templates tells crawlers of other servers than there are, or in another order.
func TestAWrongListIsNoticed(t *testing.T) {
	for name, e := range map[string]edit{
		"another order": {"ledger.yml", "- - !GetAtt Ledger1.Endpoint.Address\n        - !If [Server2, !GetAtt Ledger2",
			"- - !GetAtt Ledger2.Endpoint.Address\n        - !If [Server2, !GetAtt Ledger1"},
		"one is missing": {"ledger.yml", "        - !If [Server3, !GetAtt Ledger3.Endpoint.Address, !Ref AWS::NoValue]\n",
			""},
		"none": {"whirlpool.yml", "LedgerAddresses: !If [Server1, !GetAtt Ledger.Outputs.Addresses, \"\"]",
			"LedgerAddresses: \"\""},
		"one too many": {"ledger.yml", "- !If [Server4, !GetAtt Ledger4.Endpoint.Address, !Ref AWS::NoValue]",
			"- !GetAtt Ledger3.Endpoint.Address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, nil, e)
			if status, failures := a.create(spread(3, nil)); status != "CREATE_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
			if wrongList(t, a) == "" {
				t.Error("nobody noticed")
			}
		})
	}
}

// The programs refuse another number of servers, so the stack must not make one: it is refused before anything is made
// or ended, and all is as it was.
func TestTheNumberOfLedgerServersNeverChanges(t *testing.T) {
	for name, c := range map[string]struct{ from, to int }{"none to two": {0, 2}, "two to four": {2, 4},
		"two to none": {2, 0}, "three to two": {3, 2}, "none to one, the other stores first": {0, 1},
		"control: another name": {2, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := "UPDATE_ROLLBACK_COMPLETE"
			var edits []edit
			if strings.HasPrefix(name, "control") { // it is the name of the group that refuses the change
				want = "UPDATE_COMPLETE"
				edits = []edit{{"ledger.yml", "      DBParameterGroupName: !Sub \"${Cluster}-ledger\"\n", ""}}
			}
			a := open(t, nil, edits...)
			if strings.HasSuffix(name, "first") {
				a.Backward()
			}
			if status, failures := a.create(spread(c.from, nil)); status != "CREATE_COMPLETE" {
				t.Fatalf("%s\n%s", status, failures)
			}
			databases, crawlers, before := ids(a, "AWS::RDS::DBInstance"), crawlersOf(a), len(a.Objects(""))
			a.must("cloudformation", "UpdateStack", parameters(spread(c.to, nil))...)
			status, failures := a.settled()
			if status != want {
				t.Fatalf("%s, want %s\n%s", status, want, failures)
			}
			if want == "UPDATE_COMPLETE" {
				return
			}
			if !strings.Contains(failures, "Rename "+cluster+"-ledger") || !slices.Equal(ids(a, "AWS::RDS::DBInstance"),
				databases) || !slices.Equal(crawlersOf(a), crawlers) || len(a.Objects("")) != before {
				t.Errorf("it is not as it was: %s", failures)
			}
			if wrong := wrongList(t, a); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// make says so at once, and nothing is begun.
func TestMakeRefusesAnotherNumberOfLedgerServers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the aws command")
	}
	t.Parallel()
	a := open(t, nil)
	if status, failures := a.create(spread(2, nil)); status != "CREATE_COMPLETE" {
		t.Fatalf("%s\n%s", status, failures)
	}
	s := newShell(t, a.URL)
	for _, command := range []string{"make aws-update", "make aws-change"} {
		out, err := s.run(fakeaws.AdminKey, command+" BUCKET="+bucket+" LEDGER_SERVERS=4 CRAWLERS=5")
		if err == nil || !strings.Contains(out, "is on 2 servers of its own, which never changes") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	out, err := s.run(fakeaws.AdminKey, "make aws-change BUCKET="+bucket+" LEDGER_SERVERS=2 CRAWLERS=5")
	if err != nil || !strings.Contains(out, "Nodes") || len(crawlersOf(a)) != 3 {
		t.Errorf("the number that it has: %v\n%s", err, out)
	}
	out, err = s.run(fakeaws.AdminKey, "make tunnel")
	first := fmt.Sprint("-L 127.0.0.1:5433:", ledgerOf(a)[0].Attrs["Endpoint.Address"], ":5432")
	if err != nil || !strings.Contains(out, first) || !strings.Contains(out, "127.0.0.1:5434:") {
		t.Errorf("the tunnel has no way to the ledger: %v\n%s", err, out)
	}
}

// More than ten crawlers take connections, memory and addresses, which the parameters must name.
func TestManyCrawlers(t *testing.T) {
	enough := map[string]string{"Crawlers": "20", "LedgerServers": "1", "DatabaseType": "db.m7g.large",
		"VpcCidr": "10.0.0.0/25"}
	for name, c := range map[string]struct{ change, value, want string }{
		"twenty":               {"Crawlers", "20", "CREATE_COMPLETE"},
		"eleven":               {"Crawlers", "11", "CREATE_COMPLETE"},
		"with four servers":    {"LedgerServers", "4", "CREATE_COMPLETE"},
		"too many":             {"Crawlers", "21", "not greater than"},
		"on one server":        {"LedgerServers", "0", "Rule ManyCrawlers: More than 10 crawlers need LedgerServers"},
		"on a small server":    {"DatabaseType", "preset", "Rule ManyCrawlers: More than 10 crawlers need a DatabaseType"},
		"in the first network": {"VpcCidr", "10.0.0.0/26", "Rule ManyCrawlers: More than 10 crawlers need a VpcCidr"},
		// no rule can read that, but the subnet has no more addresses
		"in a small network":  {"VpcCidr", "10.0.1.0/26", "InsufficientFreeAddresses"},
		"a number not listed": {"LedgerServers", "5", "AllowedValues"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := maps.Clone(enough)
			p[c.change] = c.value
			a := open(t, nil)
			status, failures := a.create(p)
			if !strings.Contains(status+" "+failures, c.want) {
				t.Fatalf("%s\n%s\nwant %s", status, failures, c.want)
			}
			if status == "CREATE_COMPLETE" && fmt.Sprint(len(crawlersOf(a))) != p["Crawlers"] {
				t.Errorf("%d crawlers", len(crawlersOf(a)))
			}
		})
	}
}

// A rule that cannot be is found when the template is read.
func TestARuleThatCannotBe(t *testing.T) {
	for _, e := range []struct {
		edit edit
		want string
	}{
		{edit{"whirlpool.yml", "- Assert: !Not [!Equals [!Ref LedgerServers", "- Assert: !Not [!Equals [!Ref Stores"},
			"unresolved reference to Stores"},
		{edit{"whirlpool.yml", "      - Assert: !Not [!Equals [!Ref DatabaseType, preset]]",
			"      - Assert: !Condition PresetDatabase"}, "knows parameters only"},
		{edit{"whirlpool.yml", "    RuleCondition:", "    When:"}, "no attribute of rules"},
		{edit{"whirlpool.yml", "  PresetType: !Equals [!Ref CrawlerType, preset]",
			"  PresetType: { Fn::Contains: [[preset], !Ref CrawlerType] }"}, "in rules only"},
	} {
		a := open(t, nil, e.edit)
		if status, failures := a.create(nil); status != "ValidationError" || !strings.Contains(failures, e.want) {
			t.Errorf("%s\n%s\nwant %q", status, failures, e.want)
		}
	}
}

// A crawler's connections to each server, as docs/aws.md counts them, are within what the servers have for all.
func TestConnectionsAreEnough(t *testing.T) {
	least := func(path string) string {
		found := regexp.MustCompile(`max_connections: (.*) }`).FindStringSubmatch(read(t, path))
		if found == nil {
			t.Fatalf("%s sets no max_connections", path)
		}
		return found[1]
	}
	if got := least("stores.yml"); got != `!If [Spread, "600", "300"]` {
		t.Errorf("the main server: %s", got)
	}
	if got := least("ledger.yml"); got != `"600"` {
		t.Errorf("the ledger's servers: %s", got)
	}
	// of seven programs and the renderer at 4 and at 3, and of the API; five are kept for AWS and for the superuser
	const without, with, reserved = 3*4 + 4 + 3*2 + 1, 3*3 + 3 + 3*2 + 1 + (4 + 3 + 2), 5
	for nodes, have := range map[int]int{10: 300, 20: 600} {
		if nodes*max(without, with) > have-reserved {
			t.Errorf("%d nodes have %d connections, of %d", nodes, nodes*max(without, with), have)
		}
	}
	if text := read(t, "../docs/aws.md"); !strings.Contains(text, fmt.Sprintf("| all | %d | %d |", without, with)) {
		t.Errorf("docs/aws.md does not count %d and %d connections", without, with)
	}
}

// The list becomes URLs, in its order.
func TestTheLedgerOfACrawler(t *testing.T) {
	for list, want := range map[string]string{"": "",
		"a.rds": "postgres://whirlpool@a.rds:5432/ledger?sslmode=require",
		"b.rds,a.rds": "postgres://whirlpool@b.rds:5432/ledger?sslmode=require," +
			"postgres://whirlpool@a.rds:5432/ledger?sslmode=require"} {
		c := exec.CommandContext(t.Context(), "bash", "-euc", ". ../deploy/aws/role-crawler.sh; ledger_urls")
		c.Env = []string{"LEDGER=" + list}
		if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q: %s %v, want %s", list, out, err, want)
		}
	}
}

// What a server of the ledger costs, as docs/aws.md says.
func TestCostsOfALedger(t *testing.T) {
	total := func(args ...string) float64 {
		out, err := exec.CommandContext(t.Context(), "../deploy/aws/cost", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v", out, err)
		}
		fields := strings.Fields(string(out))
		sum, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	each := total("LedgerServers=1") - total()
	if four := total("LedgerServers=4") - total(); fmt.Sprintf("%.1f", four) != fmt.Sprintf("%.1f", 4*each) {
		t.Errorf("four servers cost %.2f, one %.2f", four, each)
	}
	if text := fmt.Sprintf("costs %.2f a month", each); !strings.Contains(read(t, "../docs/aws.md"), text) {
		t.Errorf("docs/aws.md should say %q", text)
	}
}
