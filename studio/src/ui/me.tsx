import type { Me } from "../api/types";
import { useGet } from "../lib/query";

const ranks = ["viewer", "user", "operator", "admin"];

/** Who is signed in, and whether that role may do something. */
export function useMe(): { me: Me | undefined; may: (role: Me["role"]) => boolean } {
  const { data } = useGet<Me>("/me");
  return { me: data, may: (role) => !!data && ranks.indexOf(data.role) >= ranks.indexOf(role) };
}
