// The kit: what a plug-in imports.

export { count, log } from "./host";
export { Json, Kind } from "./json";
export { Call, Document, Link, Links, Record, Request, Response } from "./messages";
export { textsOf } from "./parse";
export { Answer, DocumentPatch, LinksPatch, RecordPatch, RequestPatch, ResponsePatch, change, drop, linksOnly, pass } from "./patches";
export { ConfigError, onConfigure, onDocument, onLinks, onRecord, onRequest, onResponse } from "./plugin";
