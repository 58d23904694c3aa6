// What all applications ask the server for.
const get = async path => {
  const r = await fetch(path, {headers: {Accept: "application/json"}, credentials: "same-origin"});
  if (!r.ok) throw new Error(`${path}: ${r.status}`);
  return r.json();
};
export const items = () => get("/api/items");
export const item = n => get(`/api/items/${n}`);
export const posts = page => get(`/api/posts?page=${page}`);
