import { useSyncExternalStore } from "react";

let now = Date.now();
const users = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick() {
  now = Date.now();
  users.forEach((f) => f());
}

/** The time, renewed each second for whoever shows how long ago something was. */
export function useNow(): number {
  return useSyncExternalStore(
    (f) => {
      users.add(f);
      if (Date.now() - now > 1000) queueMicrotask(tick);
      timer ??= setInterval(tick, 1000);
      return () => {
        users.delete(f);
        if (users.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    () => now,
  );
}
