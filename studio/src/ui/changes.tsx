import { plain } from "../lib/format";

/** What differs, key by key: what it was, and what it is. */
export function Changes({ of }: { of: { key: string; from: string; to: string }[] }) {
  return (
    <ul className="changes">
      {of.map((c) => (
        <li key={c.key}>
          <code>{plain(c.key)}</code> {c.from && <del>{plain(c.from, 500)}</del>} {c.to && <ins>{plain(c.to, 500)}</ins>}
        </li>
      ))}
    </ul>
  );
}
