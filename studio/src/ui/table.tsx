import type { ReactNode } from "react";
import { useParams } from "../lib/route";

export interface Column<T> {
  key: string;
  label: string;
  num?: boolean;
  grow?: boolean; // takes what room there is; long texts are cut
  sort?: boolean; // the list can be sorted by it
  cell: (row: T) => ReactNode;
}

interface Props<T> {
  label: string; // for those who cannot see the table
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string;
  selected?: string;
  sort?: string; // where the address names none: key, with - before it: falling
}

/** A table whose sort stands in the address. On a phone a row takes two lines. */
export function Table<T>({ label, rows, columns, id, selected, sort = "" }: Props<T>) {
  const [params, set] = useParams();
  const by = params.get("sort") ?? sort;
  const turn = (c: Column<T>) => {
    const first = c.num ? "-" + c.key : c.key;
    const other = c.num ? c.key : "-" + c.key;
    set({ sort: by === first ? other : first });
  };
  return (
    <div className="scroll">
      <table className="stack" aria-label={label}>
        <thead>
          <tr>
            {columns.map((c) => {
              const sorted = by === c.key ? "ascending" : by === "-" + c.key ? "descending" : undefined;
              return (
                <th key={c.key} scope="col" className={c.num ? "num" : undefined} aria-sort={c.sort ? sorted : undefined}>
                  {c.sort ? (
                    <button type="button" onClick={() => turn(c)}>
                      {c.label}
                      {sorted && <span aria-hidden="true">{sorted === "ascending" ? "↑" : "↓"}</span>}
                    </button>
                  ) : (
                    c.label
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)} aria-selected={selected !== undefined && selected === id(row) ? true : undefined}>
              {columns.map((c) => (
                <td
                  key={c.key}
                  data-label={c.label}
                  className={[c.num ? "num" : "", c.grow ? "grow" : ""].join(" ").trim() || undefined}
                >
                  {c.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
