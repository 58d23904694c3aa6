// The API's answers as the studio uses them. Field names are those of the API.

export interface Execution {
  id: string;
  workflow: string;
  slug: string;
  version: number;
  number: number;
  state: string;
  desired: string;
  braked_by?: string;
  reason?: string;
  cause: { kind: string; by?: string };
  attempt: number;
  epoch: number;
  labels: Record<string, string> | null;
  note?: string;
  created: string;
  started?: string;
  ended?: string;
  stats?: Stats;
  audit?: { ok: boolean; at: string; faults: string[] | null };
  lock: number;
  progress?: Progress;
}

export interface Progress {
  pages: number;
  queued: number;
  in_flight: number;
  letters?: number;
  rate?: number;
}

export interface Stats {
  pages: number;
  claimed: number;
  open: number;
  verdicts: Record<string, number> | null;
  statuses: Record<string, number> | null;
  excluded: Record<string, number> | null;
  dead_letters: number;
  records: number;
  bytes: number;
  hosts: number;
  depths?: Record<string, number>;
  clusters?: number;
  copies?: number;
  duration_s: number;
}

export interface Workflow {
  id: string;
  slug: string;
  name: string;
  labels: Record<string, string> | null;
  archived?: string;
  current: number;
  created: string;
  lock: number;
  executions: number;
  last?: Execution;
}

export interface Version {
  workflow: string;
  number: number;
  source: string;
  definition: unknown;
  sha256: string;
  author: string;
  message?: string;
  parent?: number;
  created: string;
}

export interface Status {
  job: string;
  seeds: string[];
  state: string;
  time: string;
  started?: string;
  pages: number;
  max_pages: number;
  pages_per_second?: number;
  claimed: number;
  open: number;
  queued: number;
  in_flight: number;
  active_hosts: number;
  retries_waiting: number;
  next_due?: string;
  verdicts: Record<string, number> | null;
  statuses: Record<string, number> | null;
  excluded: Record<string, number> | null;
  dead_letters: number;
  files?: { name: string; bytes: number }[];
  pipeline?: unknown;
}

export interface Task {
  url: string;
  key: string;
  host: string;
  kind: string;
  state: string;
  verdict?: string;
  reason?: string;
  detail?: string;
  status?: number;
  depth: number;
  attempts?: number;
  at?: string;
  ms?: number;
  bytes?: number;
  epoch?: number;
  priority?: number;
  referrer?: string;
  record?: boolean;
}

export interface Count {
  value: string;
  count: number;
}

export interface TaskCounts {
  states: Count[] | null;
  verdicts: Count[] | null;
  reasons: Count[] | null;
  statuses: Count[] | null;
  depths: { depth: number; done: number; failed: number; excluded: number; queued: number }[] | null;
}

export interface Host {
  key: string;
  queued: number;
  in_flight: number;
  held?: boolean;
  next?: string;
  why?: string;
  text?: string;
  until?: string;
  backoff_s?: number;
  robots?: string;
  address?: string;
  requests: number;
  pages: number;
  bytes: number;
  p50_ms: number;
  p95_ms: number;
  classes: Record<string, number> | null;
  failures: number;
  failed: number;
  excluded: number;
  depth: number;
  last?: string;
}

export interface Request {
  start: string;
  ms: number;
  first_byte_ms?: number;
  class: string;
  status?: number;
  verdict: string;
  reason?: string;
  kind: string;
  url: string;
  gap_ms?: number;
  gap?: string;
}

export interface HostStory extends Host {
  line: Request[] | null;
}

export interface Explanation {
  given: string;
  url: string;
  rewritten: string[] | null;
  kind?: string;
  time: string;
  rules: {
    allowed?: boolean;
    in?: boolean;
    verdict?: string;
    reason?: string;
    rule?: string;
    text?: string;
    [key: string]: unknown;
  };
  robots: {
    origin: string;
    state: string;
    allowed: boolean;
    rule?: string;
    line?: number;
    status?: number;
    crawl_delay?: string;
    fetched_at?: string;
    expires?: string;
  };
  ledger: {
    state: string;
    where?: string;
    verdict?: string;
    status?: number;
    reason?: string;
    text?: string;
    rule?: string;
    revision?: number;
    attempts?: number;
    at?: string;
  };
  attempts: {
    time: string;
    verdict: string;
    status: number;
    reason?: string;
    detail?: string;
    attempt?: number;
    depth: number;
    referrer?: string;
    location?: string;
    revision?: number;
    priority?: string;
  }[] | null;
  content?: {
    title: string;
    bytes: number;
    content_type: string;
    fetched_at: string;
    links: number;
    fields: number;
    duplicate_of?: string;
    similarity?: string;
    truncated?: string;
    revision: number;
    older_rules?: boolean;
  };
  host: {
    key: string;
    known: boolean;
    last_contact?: string;
    not_before?: string;
    delay: string;
    backoff?: string;
    failures?: number;
    requests?: number;
    address?: string;
  };
  answer: string;
}

export interface Record_ {
  url: string;
  key: string;
  title: string;
  lang?: string;
  type: string;
  status: number;
  depth: number;
  bytes: number;
  words: number;
  fetched_at: string;
  duplicate_of?: string;
  similarity?: string;
  fields?: Record<string, unknown>;
  snippet?: { text: string; hit?: boolean }[];
}

export interface Facets {
  of: number;
  partial?: boolean;
  langs: Count[] | null;
  types: Count[] | null;
  statuses: Count[] | null;
  duplicates: Count[] | null;
  fields: { name: string; count: number; values: Count[] | null }[] | null;
}

export interface LinkState {
  url: string;
  key?: string;
  text?: string;
  rel?: string;
  state?: string;
  reason?: string;
  status?: number;
}

export interface Member {
  url: string;
  key: string;
  title: string;
  similarity: string;
  distance: number;
  bytes: number;
  fetched_at: string;
}

export interface RecordWhole {
  record: Record<string, unknown>;
  key: string;
  cut?: string[];
  links: LinkState[] | null;
  copies: Member[] | null;
  original?: Member;
  body: boolean;
}

export interface Cluster {
  id: string;
  url: string;
  title: string;
  size: number;
  exact: number;
  near: number;
  hosts: number;
}

export interface ClusterWhole extends Cluster {
  members: { items: Member[] | null; next?: string };
}

export interface Side {
  execution: string;
  url: string;
  key: string;
  title: string;
  words: number;
  source: string;
  note?: string;
}

export interface TextDiff {
  a: Side;
  b: Side;
  pieces: { op?: string; text?: string; [k: string]: unknown }[] | null;
  cut?: boolean;
}

export interface Chain {
  url: string;
  hops: Task[] | null;
  whole: boolean;
  note?: string;
  links: LinkState[] | null;
  found: Task[] | null;
}

export interface Whirl {
  depths: number;
  sectors: { host?: string; hosts: number; done: number; queued: number }[] | null;
  cells: { s: number; d: number; done?: number; failed?: number; queued?: number; excluded?: number }[] | null;
  queued: number;
  queued_all: number;
}

export interface Series {
  step_s: number;
  at: number[];
  pages_s: number[];
  bytes_s: number[];
  known: number[];
  done: number[];
  pages: number[];
  queued: number[];
  in_flight: number[];
  waiting_hosts: number[];
  c2xx: number[];
  c3xx: number[];
  c4xx: number[];
  c5xx: number[];
  none: number[];
  gaps: number[] | null;
}

export interface Event {
  id: number;
  execution?: string;
  workflow?: string;
  seq?: number;
  at: string;
  type: string;
  actor: string;
  data?: unknown;
}

export interface LogLine {
  id: string;
  at: string;
  source: string;
  level: string;
  message: string;
  execution?: string;
  host?: string;
  url?: string;
  verdict?: string;
  status?: number;
  fields?: Record<string, unknown>;
}

export interface Comparison {
  first: string;
  second: string;
  new: number;
  gone: number;
  changed: number;
  touched: number;
  same: number;
}

export interface Compared {
  url: string;
  key: string;
  change: string;
  before?: Brief;
  after?: Brief;
  share?: number;
}

export interface Brief {
  title: string;
  status: number;
  bytes: number;
  words: number;
  fetched_at: string;
  digest: string;
}
