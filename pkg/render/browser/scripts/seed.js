// Random numbers that are the same in each render of a page (mulberry32).
(seed => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  Math.random = () => next() / 4294967296;
  if (!self.Crypto) return;
  Crypto.prototype.getRandomValues = array => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next();
    return array;
  };
  Crypto.prototype.randomUUID = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g,
    c => (+c ^ (next() & (15 >> (+c / 4)))).toString(16));
})
